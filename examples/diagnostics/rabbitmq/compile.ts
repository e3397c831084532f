import type { DeclarationExample, ExamplePair, TargetFileExample } from "../example.ts";
import { retryText, systemExample, systemText } from "../example-text.ts";

const exponential = retryText("kind: exponential, first: 1s, factor: 2, max: 10s");
const newest = { target: "rabbitmq@4.3" };

/** Twelve consumers with a hundred delays each, most of them different. */
function manyDelays(jitter: string): DeclarationExample {
  const firsts = [1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049, 1051, 1061, 1063, 1069];
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic } }",
    "consumers:",
    ...firsts.map(
      (firstMs, index) =>
        `  c${index + 1}: { from: { orders: [order.placed] }, retry: { attempts: 100, backoff: { kind: linear, first: ${firstMs}ms${jitter} } } }`,
    ),
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, ...newest, strategy: "waits" };
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

/** One consumer, whose work queue and dead queue are all its queues, with a budget of this many. */
function withBudget(queues: number): DeclarationExample {
  const example = systemExample({}, newest);
  return { ...example, text: `${example.text}limits: { queues: ${queues} }\n` };
}

/** An operator's policy for the work queue, in a target file. */
function withPolicy(definition: string): TargetFileExample {
  const text = [
    "broker: rabbitmq",
    'version: "4.3"',
    "policies:",
    `  - { name: limits, kind: operator, pattern: "^shop.billing$", applyTo: queues, definition: { ${definition} } }`,
    "",
  ].join("\n");
  return { kind: "target-file", text, declaration: systemText() };
}

/** RD2xx: declarations that RabbitMQ cannot keep, or keeps only at a price. */
export const compileExamples = {
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
  RD209: {
    fires: systemExample({ more: ["deadLetter: { retain: 14d, alarmAbove: 0 }"] }, newest),
    quiet: systemExample({ more: ["deadLetter: { retain: 14d }"] }, newest),
  },
  RD240: {
    fires: systemExample(
      { more: ["handlerTimeout: 10m", "queueArguments: { consumerTimeout: 5m }"] },
      { target: "rabbitmq@4.3" },
    ),
    quiet: systemExample(
      { more: ["handlerTimeout: 10m", "queueArguments: { consumerTimeout: 1h }"] },
      { target: "rabbitmq@4.3" },
    ),
  },
  RD241: {
    fires: systemExample({ more: ["queueArguments: { maxLength: 100000 }"] }, newest),
    quiet: systemExample({ more: ["queueArguments: { singleActiveConsumer: true }"] }, newest),
  },
  RD242: {
    fires: withPolicy("message-ttl: 60000"),
    quiet: withPolicy("delivery-limit: 100"),
  },
  RD210: { fires: manyDelays(", jitter: 20%"), quiet: manyDelays("") },
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
  RD223: {
    fires: withBudget(1),
    quiet: withBudget(2),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
