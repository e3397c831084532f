import type { DeclarationExample, ExamplePair } from "./example.ts";
import { retryText, systemExample } from "./example-text.ts";

const exponential = retryText("kind: exponential, first: 1s, factor: 2, max: 10s");
const newest = { target: "rabbitmq@4.3" };

/** Fifty consumers with a hundred attempts each: under `staged` each of them has 101 queues. */
function fiftyConsumers(strategy: string): DeclarationExample {
  const others = Array.from({ length: 49 }, (_, index) => `c${String(index + 2).padStart(2, "0")}: *c`);
  const rows = Array.from({ length: 5 }, (_, row) => others.slice(row * 10, row * 10 + 10).join(", "));
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic } }",
    "consumers: {",
    "  c01: &c { from: { orders: [order.placed] }, retry: { attempts: 100, backoff: { kind: constant, delay: 30s } } },",
    ...rows.map((row) => `  ${row},`),
    "}",
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, ...newest, strategy };
}

/** The consumer billing, and another one. */
function twoConsumers(other: string): DeclarationExample {
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic } }",
    "consumers:",
    "  billing: &retried",
    "    from: { orders: [order.placed] }",
    "    retry: { attempts: 5, backoff: { kind: constant, delay: 30s } }",
    `  ${other}: *retried`,
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, ...newest };
}

/** RD2xx: what RabbitMQ cannot do, or does only at a price. */
export const rabbitmqExamples = {
  RD201: {
    fires: { kind: "target", target: "rabbitmq@5.0" },
    quiet: { kind: "target", target: "rabbitmq@4.3" },
  },
  RD202: {
    fires: systemExample({ retry: exponential }, { ...newest, strategy: "native" }),
    quiet: systemExample({ retry: exponential }, { ...newest, strategy: "staged" }),
  },
  RD203: {
    fires: systemExample({ more: ["crash: { deliveries: 3 }", "protocol: amqp-1.0"] }, newest),
    quiet: systemExample({ more: ["crash: { deliveries: 5 }", "protocol: amqp-1.0"] }, newest),
  },
  RD204: {
    fires: systemExample({ consumer: "billing/eu" }, newest),
    quiet: systemExample({ consumer: "billing-eu" }, newest),
  },
  RD205: { fires: twoConsumers("billing.dead"), quiet: twoConsumers("billing.refunds") },
  RD206: {
    fires: systemExample({ more: ["order: per-key"] }, newest),
    quiet: systemExample({ more: ["order: none"] }, newest),
  },
  RD207: {
    fires: systemExample({ more: ["crash: { deliveries: 3 }"] }, { target: "rabbitmq@4.0" }),
    quiet: systemExample({ more: ["crash: { deliveries: 3 }"] }, newest),
  },
  RD208: {
    fires: systemExample({}, { target: "rabbitmq@3.12", strategy: "staged", also: ["RD207"] }),
    quiet: systemExample({}, { target: "rabbitmq@3.12", strategy: "waits", also: ["RD207"] }),
  },
  RD209: {
    fires: systemExample({ more: ["deadLetter: { retain: 14d, alarmAbove: 0 }"] }, newest),
    quiet: systemExample({ more: ["deadLetter: { retain: 14d }"] }, newest),
  },
  RD210: { fires: fiftyConsumers("staged"), quiet: fiftyConsumers("waits") },
  RD211: {
    fires: systemExample(
      { more: ["handlerTimeout: 45m"] },
      { target: "rabbitmq@3.11", strategy: "waits", also: ["RD207"] },
    ),
    quiet: systemExample(
      { more: ["handlerTimeout: 45m"] },
      { target: "rabbitmq@3.12", strategy: "waits", also: ["RD207"] },
    ),
  },
  RD212: {
    fires: systemExample({ from: '{ orders: ["redeliver:order"] }' }, newest),
    quiet: systemExample({ from: '{ orders: ["order.redeliver"] }' }, newest),
  },
  RD213: {
    fires: systemExample({ more: ["protocol: amqp-1.0"] }, { target: "rabbitmq@4.2" }),
    quiet: systemExample({ more: ["protocol: amqp-1.0"] }, newest),
  },
  RD214: {
    fires: systemExample({}, { target: "rabbitmq@3.13", strategy: "staged", also: ["RD207"] }),
    quiet: systemExample({}, { target: "rabbitmq@3.13", strategy: "waits", also: ["RD207"] }),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
