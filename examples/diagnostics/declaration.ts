import type { ExamplePair } from "./example.ts";
import { retryText, systemExample, systemText } from "./example-text.ts";

/** RD0xx: problems of a file itself, found before its declarations. */
export const readingExamples = {
  RD001: {
    fires: { kind: "file", name: "shop.toml", text: 'name = "shop"\n' },
    quiet: { kind: "file", name: "shop.yaml", text: systemText() },
  },
  RD002: {
    fires: {
      kind: "declaration",
      format: "yaml",
      text: systemText({ more: ["crash: { deliveries: 3 }", "crash: { deliveries: 5 }"] }),
    },
    quiet: systemExample({ more: ["crash: { deliveries: 3 }"] }),
  },
  RD003: {
    fires: {
      kind: "file",
      name: "shop.ts",
      text: [
        'import { constant, defineSystem } from "redeliver";',
        "",
        "export const shop = defineSystem({",
        '  name: "shop",',
        '  sources: { orders: { kind: "topic" } },',
        "  consumers: {",
        '    billing: { from: { orders: ["order.placed"] }, retry: { attempts: 5, backoff: constant("30s") } },',
        "  },",
        "});",
        "",
      ].join("\n"),
    },
    quiet: {
      kind: "file",
      name: "shop.ts",
      text: [
        'import { constant, defineSystem } from "redeliver";',
        "",
        "export default defineSystem({",
        '  name: "shop",',
        '  sources: { orders: { kind: "topic" } },',
        "  consumers: {",
        '    billing: { from: { orders: ["order.placed"] }, retry: { attempts: 5, backoff: constant("30s") } },',
        "  },",
        "});",
        "",
      ].join("\n"),
    },
  },
  RD004: {
    fires: { kind: "declaration", format: "yaml", text: "# name: shop\n" },
    quiet: systemExample({}),
  },
  RD005: {
    fires: systemExample({ more: ["errors: &errors { permanent: [*errors] }"] }),
    quiet: systemExample({ more: ["errors: { permanent: [ValidationError] }"] }),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;

/** RD1xx: problems of a declaration on any broker. */
export const declarationExamples = {
  RD101: {
    fires: systemExample({ retry: retryText("kind: exponental, first: 1s, factor: 2") }),
    quiet: systemExample({ retry: retryText("kind: exponential, first: 1s, factor: 2") }),
  },
  RD102: {
    fires: systemExample({ more: ["deadletter: { retain: 14d }"] }),
    quiet: systemExample({ more: ["deadLetter: { retain: 14d }"] }),
  },
  RD103: {
    fires: systemExample({ retry: retryText("kind: constant, delay: 1.5s") }),
    quiet: systemExample({ retry: retryText("kind: constant, delay: 1500ms") }),
  },
  RD104: {
    fires: systemExample({ retry: retryText("kind: constant, delay: 30s", 0) }),
    quiet: systemExample({ retry: retryText("kind: constant, delay: 30s", 1) }),
  },
  RD105: {
    fires: systemExample({ retry: retryText("kind: exponential, first: 1s, factor: 2", 60) }),
    quiet: systemExample({ retry: retryText("kind: exponential, first: 1s, factor: 2, max: 1h", 60) }),
  },
  RD106: {
    fires: systemExample({ retry: retryText("kind: exponential, first: 10s, factor: 2, max: 5s") }),
    quiet: systemExample({ retry: retryText("kind: exponential, first: 10s, factor: 2, max: 5m") }),
  },
  RD107: {
    fires: systemExample({ retry: retryText("kind: steps, delays: [1s, 10s]", 4) }),
    quiet: systemExample({ retry: retryText("kind: steps, delays: [1s, 10s, 1m]", 4) }),
  },
  RD108: {
    fires: systemExample({ from: "{ order: [order.placed] }" }),
    quiet: systemExample({ from: "{ orders: [order.placed] }" }),
  },
  RD109: {
    fires: systemExample({ from: "{ orders: [] }" }),
    quiet: systemExample({ from: "{ orders: all }" }),
  },
  RD110: {
    fires: systemExample({ from: '{ orders: ["order.pl*"] }' }),
    quiet: systemExample({ from: '{ orders: ["order.*"] }' }),
  },
  RD111: {
    fires: systemExample({ name: '""' }),
    quiet: systemExample({ name: "shop" }),
  },
  RD112: {
    fires: systemExample({ more: ["delivery: every-instance"] }),
    quiet: systemExample({ retry: "", more: ["delivery: every-instance"] }),
  },
  RD113: {
    fires: systemExample({ name: '"shop\\u200B"' }),
    quiet: systemExample({ name: "shop" }),
  },
  RD114: {
    fires: {
      kind: "declaration",
      format: "yaml",
      text: "name: shop\nsources: { orders: { kind: topic } }\nconsumers: {}\n",
    },
    quiet: systemExample({}),
  },
  RD119: {
    fires: systemExample({ retry: retryText("kind: exponential, first: 1s, factor: 2", 23) }),
    quiet: systemExample({ retry: retryText("kind: exponential, first: 1s, factor: 2, max: 1h", 23) }),
  },
  RD120: {
    fires: systemExample({ retry: "{ attempts: 3, giveUpAfter: 5s, backoff: { kind: constant, delay: 10s } }" }),
    quiet: systemExample({ retry: "{ attempts: 3, giveUpAfter: 20s, backoff: { kind: constant, delay: 10s } }" }),
  },
  RD121: {
    fires: systemExample({ from: '{ orders: ["order.placed order.cancelled"] }' }),
    quiet: systemExample({ from: '{ orders: ["order.placed", "order.cancelled"] }' }),
  },
  RD122: {
    fires: { kind: "declaration", format: "yaml", text: systemText().replace(/ +from: .*\n/, "") },
    quiet: systemExample({}),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
