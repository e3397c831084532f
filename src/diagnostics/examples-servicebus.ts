import type { DeclarationExample, ExamplePair, FileExample, TargetFileExample } from "./example.ts";
import type { ExampleLines } from "./example-text.ts";
import { retryText, systemExample, systemText } from "./example-text.ts";

const timeout = "handlerTimeout: 30s";
const constantRetry = retryText("kind: constant, delay: 30s");
const atOnce = retryText("kind: immediate");
/** A returned message may cost a delivery on every queue of Service Bus that has no sessions. */
const returned = { also: ["RD713"] } as const;

/** A consumer with a handler timeout, which is refused on a tier. */
function refused(lines: ExampleLines, sku = "standard", strategy?: string): DeclarationExample {
  const rest = { target: `servicebus@${sku}`, ...(strategy === undefined ? {} : { strategy }) };
  return systemExample({ ...lines, more: [timeout, ...(lines.more ?? [])] }, rest);
}

/** The same where it is compiled. */
function compiled(lines: ExampleLines, sku = "standard", strategy?: string): DeclarationExample {
  return { ...refused(lines, sku, strategy), ...returned };
}

/** So many attempts at once, for Microsoft's emulator. */
function exported(attempts: number, also: DeclarationExample["also"] & {}): DeclarationExample {
  const example = refused({ retry: retryText("kind: immediate", attempts) });
  return { ...example, exportAs: "emulator-config", also };
}

/** A target as a file with these lines. */
function target(lines: readonly string[], also?: TargetFileExample["also"]): TargetFileExample {
  const text = ["broker: servicebus", "sku: standard", ...lines, ""].join("\n");
  const declaration = systemText({ more: [timeout] });
  return { kind: "target-file", text, declaration, ...(also === undefined ? {} : { also }) };
}

/** The consumer billing, and another one that differs in its name. */
function twoConsumers(other: string): DeclarationExample {
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic } }",
    "consumers:",
    "  billing: &retried",
    "    from: { orders: [order.placed] }",
    `    retry: ${constantRetry}`,
    `    ${timeout}`,
    `  ${other}: *retried`,
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, target: "servicebus@standard" };
}

/** One consumer in order, of one source or of two. */
function inOrder(from: string): DeclarationExample {
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic }, payments: { kind: topic } }",
    "consumers:",
    "  billing:",
    `    from: ${from}`,
    `    retry: ${atOnce}`,
    `    ${timeout}`,
    "    order: per-key",
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, target: "servicebus@standard" };
}

/** A consumer in order, whose dead letters are in one dead queue or its own. */
function ordered(deadQueue: string): TargetFileExample {
  const text = `broker: servicebus\nsku: standard\ndeadQueue: ${deadQueue}\n`;
  const declaration = systemText({ retry: atOnce, more: [timeout, "order: per-key"] });
  return { kind: "target-file", text, declaration };
}

/** So many consumers like billing, each of which has these routing keys of the one source. */
function generated(consumers: number, keys: string, sku = "standard"): FileExample {
  const text = [
    'import { constant, defineSystem } from "redeliver";',
    "",
    "const billing = {",
    `  from: { orders: ${keys} },`,
    '  retry: { attempts: 5, backoff: constant("30s") },',
    '  handlerTimeout: "30s",',
    "};",
    "export default defineSystem({",
    '  name: "shop",',
    '  sources: { orders: { kind: "topic" } },',
    `  consumers: Object.fromEntries(Array.from({ length: ${consumers} }, (_, index) => [\`billing-\${index}\`, billing])),`,
    "});",
    "",
  ].join("\n");
  return { kind: "file", name: "shop.js", text, target: `servicebus@${sku}`, ...returned };
}

/** So many patterns of routing keys. */
function patterns(length: number): string {
  return `Array.from({ length: ${length} }, (_, index) => \`order-\${index}.*\`)`;
}

/** Twelve consumers, each with a tier for each delay. */
function tiered(attempts: number): DeclarationExample {
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic } }",
    "consumers:",
    "  billing: &tiered",
    "    from: { orders: [order.placed] }",
    `    retry: ${retryText("kind: linear, first: 1s, step: 1s", attempts)}`,
    "    crash: { deliveries: 2 }",
    `    ${timeout}`,
    ...Array.from({ length: 11 }, (_, index) => `  billing-${index + 2}: *tiered`),
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, target: "servicebus@standard", strategy: "ttl-tier" };
}

/** RD70x to RD73x: what Azure Service Bus cannot do, or does only at a price. */
export const servicebusExamples = {
  RD701: {
    fires: { kind: "target", target: "servicebus@gold" },
    quiet: { kind: "target", target: "servicebus@standard" },
  },
  RD702: { fires: target(["lock: P5M"]), quiet: target(["lock: 5m"], returned.also) },
  RD703: { fires: target(["duplicates: 10s"]), quiet: target(["duplicates: 10m"], returned.also) },
  RD704: { fires: refused({}, "basic"), quiet: compiled({ from: "{ orders: all }" }, "basic") },
  RD705: {
    fires: refused({}, "standard", "immediate"),
    quiet: compiled({}, "standard", "scheduled"),
  },
  RD706: {
    fires: refused({ retry: constantRetry, more: ["order: per-key"] }),
    quiet: refused({ retry: atOnce, more: ["order: per-key"] }),
  },
  RD707: { fires: compiled({ consumer: "billing~eu" }), quiet: compiled({ consumer: "billing-eu" }) },
  RD708: { fires: { ...twoConsumers("Billing"), ...returned }, quiet: { ...twoConsumers("refunds"), ...returned } },
  RD709: {
    fires: systemExample({ retry: "", more: ["delivery: every-instance"] }, { target: "servicebus@standard" }),
    quiet: compiled({ more: ["delivery: work-queue"] }),
  },
  RD710: {
    fires: inOrder("{ orders: all, payments: all }"),
    quiet: inOrder("{ orders: all }"),
  },
  RD711: {
    fires: refused({ from: '{ orders: ["*.order.#"] }' }),
    quiet: compiled({ from: '{ orders: ["#.order.#"] }' }),
  },
  RD712: {
    fires: systemExample({ more: ["handlerTimeout: 30d"] }, { target: "servicebus@standard" }),
    quiet: systemExample({ more: ["handlerTimeout: 20d"] }, { target: "servicebus@standard", ...returned }),
  },
  RD713: {
    fires: refused({}),
    quiet: refused({ retry: atOnce, more: ["order: per-key"] }),
  },
  RD714: {
    fires: systemExample({}, { target: "servicebus@standard", ...returned }),
    quiet: compiled({}),
  },
  RD715: {
    fires: { ...refused({}, "standard", "ttl-tier"), ...returned },
    quiet: compiled({}, "standard", "scheduled"),
  },
  RD716: {
    fires: target(["lock: 1m", "duplicates: 20s"], returned.also),
    quiet: target(["lock: 1m", "duplicates: 10m"], returned.also),
  },
  RD717: {
    fires: exported(20, ["RD713", "RD718"]),
    quiet: exported(10, ["RD713", "RD718"]),
  },
  RD718: {
    fires: exported(5, ["RD713"]),
    quiet: compiled({ retry: atOnce }),
  },
  RD719: {
    fires: { ...tiered(1_000), also: ["RD713", "RD715"] },
    quiet: { ...tiered(5), also: ["RD713", "RD715"] },
  },
  RD720: { fires: generated(1_000, '["order.placed"]', "premium"), quiet: generated(1_000, '["order.placed"]') },
  RD721: { fires: generated(2_001, '["order.placed"]'), quiet: generated(20, '["order.placed"]') },
  RD722: { fires: generated(21, patterns(100)), quiet: generated(21, patterns(2)) },
  RD723: {
    fires: ordered("shared"),
    quiet: ordered("own"),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
