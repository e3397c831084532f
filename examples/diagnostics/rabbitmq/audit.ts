import type { DefinitionsExample, ExamplePair } from "../example.ts";
import type { DefinitionsLines } from "./read.ts";
import { definitions } from "./read.ts";

export type Arguments = Readonly<Record<string, string | number>>;

export function queue(name: string, given: Arguments): object {
  return { name, vhost: "/", durable: true, auto_delete: false, arguments: given };
}

export function quorum(name: string, given: Arguments = {}): object {
  return queue(name, { "x-queue-type": "quorum", ...given });
}

/** The arguments that dead-letter to the default exchange, and so to the queue with this name. */
export function deadTo(name: string): Arguments {
  return { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": name };
}

export function exchange(name: string, type: string): object {
  return { name, vhost: "/", type, durable: true, auto_delete: false, internal: false, arguments: {} };
}

export function binding(source: string, destination: string, routingKey = "", given: Arguments = {}): object {
  return { source, vhost: "/", destination, destination_type: "queue", routing_key: routingKey, arguments: given };
}

export function policy(name: string, pattern: string, priority: number, definition: object): object {
  return { vhost: "/", name, pattern, "apply-to": "queues", definition, priority };
}

const dead = quorum("orders.dead", { "x-delivery-limit": -1 });
export const classicDead = queue("orders.dead", {});
export const onVersion = (version: string, lines: DefinitionsLines): DefinitionsExample =>
  definitions({ version, ...lines });

/** A work queue that dead-letters to a wait queue. The wait queue sends everything back after five seconds. */
function singleWaitQueue(type: "classic" | "quorum"): object[] {
  return [
    queue("orders", { "x-queue-type": type, ...deadTo("orders.wait") }),
    queue("orders.wait", { "x-queue-type": type, "x-message-ttl": 5_000, ...deadTo("orders") }),
  ];
}

const byReason = (reason: string): Arguments => ({ "x-match": "all-with-x", "x-last-death-reason": reason });

/** The same with a headers exchange in between. Only rejected messages wait, and all others are dead. */
const waitByReason: DefinitionsLines = {
  exchanges: [exchange("orders.failed", "headers")],
  queues: [
    quorum("orders", { "x-dead-letter-exchange": "orders.failed" }),
    quorum("orders.wait", { "x-message-ttl": 5_000, ...deadTo("orders") }),
    dead,
  ],
  bindings: [
    binding("orders.failed", "orders.wait", "", byReason("rejected")),
    binding("orders.failed", "orders.dead", "", byReason("delivery_limit")),
  ],
};

/** Two consumers of one exchange. The retries of the first come back through an exchange of this name. */
function retriesThrough(again: Arguments): DefinitionsLines {
  return {
    exchanges: [exchange("events", "direct")],
    queues: [
      queue("billing", deadTo("billing.wait")),
      queue("shipping", deadTo("shipping.dead")),
      queue("shipping.dead", {}),
      queue("billing.wait", { "x-message-ttl": 5_000, ...again }),
    ],
    bindings: [binding("events", "billing", "placed"), binding("events", "shipping", "placed")],
  };
}

/** A work queue with dead letters that go to many wait queues at once. */
function fanOut(given: Arguments): DefinitionsLines {
  const names = Array.from({ length: 9 }, (_, index) => `orders.wait.${index + 1}`);
  return {
    queues: [
      queue("orders", { ...given, "x-dead-letter-exchange": "orders.failed" }),
      ...names.map((name) => queue(name, { "x-message-ttl": 5_000, ...deadTo("orders") })),
    ],
    exchanges: [exchange("orders.failed", "fanout")],
    bindings: names.map((name) => binding("orders.failed", name)),
  };
}

function partlyBound(pattern: string): DefinitionsLines {
  return {
    exchanges: [exchange("events", "topic"), exchange("failed", "topic")],
    queues: [queue("orders", { "x-dead-letter-exchange": "failed" }), classicDead],
    bindings: [binding("events", "orders", "order.*"), binding("failed", "orders.dead", pattern)],
  };
}

/**
 * A work queue and its wait queue, with at-least-once dead-lettering in both directions. Only the work queue certainly
 * has a bound.
 */
function boundedCircle(limitOfWaitQueue: Arguments): DefinitionsLines {
  const safe = { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" };
  return {
    queues: [
      quorum("orders", { ...safe, "x-max-length": 1_000, ...deadTo("orders.wait") }),
      quorum("orders.wait", { ...safe, ...limitOfWaitQueue, "x-message-ttl": 5_000, ...deadTo("orders") }),
    ],
  };
}

const catchAll = policy("all", ".*", 0, { "dead-letter-exchange": "", "dead-letter-routing-key": "orders.dead" });

/** RD41x and RD42x: the findings of an audit. */
export const auditExamples = {
  RD411: {
    fires: definitions({ queues: [queue("orders", { "x-dead-letter-exchange": "orders.failed" })] }),
    quiet: definitions({
      exchanges: [exchange("orders.failed", "fanout")],
      queues: [queue("orders", { "x-dead-letter-exchange": "orders.failed" }), classicDead],
      bindings: [binding("orders.failed", "orders.dead")],
    }),
  },
  RD412: {
    fires: definitions({
      exchanges: [exchange("events", "topic"), exchange("failed", "direct")],
      queues: [queue("orders", { "x-dead-letter-exchange": "failed" }), classicDead],
      bindings: [binding("events", "orders", "order.*"), binding("failed", "orders.dead", "orders")],
    }),
    quiet: definitions({
      exchanges: [exchange("events", "topic"), exchange("failed", "direct")],
      queues: [
        queue("orders", { "x-dead-letter-exchange": "failed", "x-dead-letter-routing-key": "orders" }),
        classicDead,
      ],
      bindings: [binding("events", "orders", "order.*"), binding("failed", "orders.dead", "orders")],
    }),
  },
  RD413: {
    fires: { ...definitions({ queues: singleWaitQueue("quorum") }), also: ["RD416"] },
    quiet: { ...definitions(waitByReason), also: ["RD416"] },
  },
  RD414: {
    fires: definitions({ queues: [queue("orders", deadTo("orders"))] }),
    quiet: definitions({ queues: [queue("orders", deadTo("orders.dead")), classicDead] }),
  },
  RD415: {
    fires: onVersion("3.13.7", { queues: [quorum("orders", deadTo("orders.dead")), quorum("orders.dead")] }),
    quiet: onVersion("3.13.7", {
      queues: [quorum("orders", { ...deadTo("orders.dead"), "x-delivery-limit": 5 }), quorum("orders.dead")],
    }),
  },
  RD416: {
    fires: definitions({ queues: singleWaitQueue("classic") }),
    quiet: definitions({ queues: [queue("orders", deadTo("orders.dead")), classicDead] }),
  },
  RD417: {
    fires: onVersion("4.3.1", {
      queues: [quorum("orders", { ...deadTo("orders.dead"), "x-delivery-limit": 5 }), dead],
    }),
    quiet: onVersion("4.2.0", {
      queues: [quorum("orders", { ...deadTo("orders.dead"), "x-delivery-limit": 5 }), dead],
    }),
  },
  RD418: {
    fires: definitions({
      queues: [quorum("orders", { ...deadTo("orders.dead"), "x-dead-letter-strategy": "at-least-once" }), dead],
    }),
    quiet: definitions({
      queues: [
        quorum("orders", {
          ...deadTo("orders.dead"),
          "x-dead-letter-strategy": "at-least-once",
          "x-overflow": "reject-publish",
        }),
        dead,
      ],
    }),
  },
  RD419: {
    fires: definitions({
      queues: [queue("orders", deadTo("orders.dead")), queue("orders.dead", { "x-expires": 86_400_000 })],
    }),
    quiet: definitions({ queues: [queue("orders", deadTo("orders.dead")), classicDead] }),
  },
  RD420: {
    fires: definitions({ queues: [quorum("orders")] }),
    quiet: definitions({ queues: [quorum("orders", deadTo("orders.dead")), dead] }),
  },
  RD421: {
    fires: onVersion("4.1.0", { queues: [quorum("orders", deadTo("orders.dead")), quorum("orders.dead")] }),
    quiet: onVersion("4.1.0", { queues: [quorum("orders", deadTo("orders.dead")), dead] }),
  },
  RD422: {
    fires: {
      ...definitions({
        queues: [queue("orders", deadTo("orders.dead")), classicDead],
        policies: [catchAll, policy("orders", "^orders", 10, { "max-length": 100_000, overflow: "reject-publish" })],
      }),
      also: ["RD436"],
    },
    quiet: definitions({
      queues: [queue("orders", deadTo("orders.dead")), classicDead],
      policies: [policy("orders", "^orders$", 10, { "max-length": 100_000, overflow: "reject-publish" })],
    }),
  },
  RD423: {
    fires: definitions({
      queues: [quorum("orders", { ...deadTo("orders.dead"), "x-delivery-limit": "5" }), dead],
    }),
    quiet: definitions({ queues: [quorum("orders", deadTo("orders.dead")), dead] }),
  },
  RD424: {
    fires: {
      ...definitions(retriesThrough({ "x-dead-letter-exchange": "events", "x-dead-letter-routing-key": "placed" })),
      also: ["RD416"],
    },
    quiet: { ...definitions(retriesThrough(deadTo("billing"))), also: ["RD416"] },
  },
  RD425: {
    fires: { ...onVersion("3.13.7", { queues: [quorum("orders")] }), upgradeTo: "4.2" },
    quiet: { ...onVersion("4.0.5", { queues: [quorum("orders")] }), upgradeTo: "4.2" },
  },
  RD426: {
    fires: {
      ...definitions({
        queues: [
          queue("orders", deadTo("orders.wait")),
          queue("orders.wait", { "x-message-ttl": 5_000, "x-expires": 60_000, ...deadTo("orders") }),
        ],
      }),
      also: ["RD416"],
    },
    quiet: { ...definitions({ queues: singleWaitQueue("classic") }), also: ["RD416"] },
  },
  RD428: {
    fires: {
      ...onVersion("3.10.8", fanOut({ "x-queue-type": "quorum", "x-delivery-limit": 5 })),
      also: ["RD413", "RD414", "RD416"],
    },
    quiet: { ...onVersion("3.10.8", fanOut({ "x-queue-type": "classic" })), also: ["RD416"] },
  },
  RD429: {
    fires: definitions(partlyBound("order.placed")),
    quiet: definitions(partlyBound("order.#")),
  },
  RD427: {
    fires: definitions({
      queues: [queue("orders", deadTo("orders.dead")), classicDead],
      policies: [
        policy("orders", "(?x)^orders $ # one queue", 0, { "max-length": 100_000, overflow: "reject-publish" }),
      ],
    }),
    quiet: definitions({
      queues: [queue("orders", deadTo("orders.dead")), classicDead],
      policies: [policy("orders", "(?i)^orders$", 0, { "max-length": 100_000, overflow: "reject-publish" })],
    }),
  },
  RD430: {
    fires: onVersion("3.13.7", {
      queues: [quorum("orders", { ...deadTo("orders.dead"), "x-delivery-limit": -1 }), quorum("orders.dead")],
    }),
    quiet: onVersion("3.13.7", {
      queues: [quorum("orders", { ...deadTo("orders.dead"), "x-delivery-limit": 5 }), quorum("orders.dead")],
    }),
  },
  RD431: {
    fires: definitions({
      queues: [queue("orders", deadTo("orders.dead")), queue("orders.dead", { "x-message-ttl": 86_400_000 })],
    }),
    quiet: definitions({ queues: [queue("orders", deadTo("orders.dead")), classicDead] }),
  },
  RD432: {
    fires: { ...definitions(boundedCircle({ "x-max-length": 1_000 })), also: ["RD413", "RD416"] },
    quiet: { ...definitions(boundedCircle({})), also: ["RD413", "RD416"] },
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
