import type { DeclarationExample, DriftExample } from "../example.ts";

/** A system with one consumer, and with one change. */
function system(change: {
  readonly from?: string;
  readonly delay?: string;
  readonly more?: string;
}): DeclarationExample {
  const { from = "[order.placed, order.cancelled]", delay = "30s", more } = change;
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic } }",
    "consumers:",
    "  billing:",
    `    from: { orders: ${from} }`,
    `    retry: { attempts: 5, backoff: { kind: constant, delay: ${delay} } }`,
    ...(more === undefined ? [] : [more]),
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, target: "rabbitmq@4.3", strategy: "native" };
}

const compared = (
  after: DeclarationExample,
): { kind: "change"; by: "diff" } & Record<"before" | "after", DeclarationExample> => ({
  kind: "change",
  by: "diff",
  before: system({}),
  after,
});

const mail =
  "  mail: { from: { orders: [order.placed] }, retry: { attempts: 5, backoff: { kind: constant, delay: 30s } } }";

/** A system whose instances make their queues themselves, and an export of its broker. */
function exported(rest: object): DriftExample {
  const declaration = [
    "name: shop",
    "sources: { orders: { kind: topic } }",
    "consumers:",
    '  live: { from: { orders: ["#"] }, delivery: every-instance }',
    "",
  ].join("\n");
  const orders = { name: "shop.orders", vhost: "/", type: "topic", durable: true, auto_delete: false, arguments: {} };
  const text = { rabbitmq_version: "4.3.6", vhosts: [{ name: "/" }], exchanges: [orders], ...rest };
  return { kind: "drift", declaration, target: "rabbitmq@4.3", text: `${JSON.stringify(text, null, 2)}\n` };
}

const policy = { name: "tests", vhost: "/", "apply-to": "queues", priority: 0, definition: { expires: 60_000 } };

/** RD311 to RD315: differences between a declaration and a broker, or between two declarations. */
export const driftExamples = {
  RD311: { fires: compared(system({ from: "[order.placed]" })), quiet: compared(system({})) },
  RD312: { fires: compared(system({ delay: "1m" })), quiet: compared(system({})) },
  RD313: {
    fires: compared(system({ more: mail })),
    quiet: compared(system({})),
  },
  RD314: {
    fires: exported({ policies: [{ ...policy, pattern: "(?<!shop)[.]test$" }] }),
    quiet: exported({ policies: [{ ...policy, pattern: "[.]test$" }] }),
  },
  RD315: {
    fires: exported({ vhosts: [{ name: "/" }, { name: "tests" }] }),
    quiet: exported({}),
  },
} as const;
