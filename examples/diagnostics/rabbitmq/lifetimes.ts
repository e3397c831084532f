import type { DefinitionsExample, ExamplePair } from "../example.ts";
import type { DefinitionsLines } from "./read.ts";
import { definitions } from "./read.ts";
import type { Arguments } from "./audit.ts";
import { binding, classicDead, deadTo, exchange, onVersion, policy, queue, quorum } from "./audit.ts";

/** A work queue, its dead queue, and the exchange between them. */
const deadThrough = (failed: object): DefinitionsExample =>
  definitions({
    exchanges: [failed],
    queues: [queue("orders", { "x-dead-letter-exchange": "orders.failed" }), classicDead],
    bindings: [binding("orders.failed", "orders.dead")],
  });

const deadIn = (deadQueue: object): DefinitionsExample =>
  definitions({ queues: [queue("orders", deadTo("orders.dead")), deadQueue] });

const mirrored = (mirroring: object): DefinitionsLines => ({
  queues: [queue("orders", {}), classicDead],
  policies: [
    policy("orders", "^orders$", 0, {
      "dead-letter-exchange": "",
      "dead-letter-routing-key": "orders.dead",
      ...mirroring,
    }),
  ],
});

const withAlternate = (alternate: string): DefinitionsExample =>
  definitions({
    exchanges: [{ ...exchange("orders", "topic"), arguments: { "alternate-exchange": alternate } }],
    queues: [queue("orders", deadTo("orders.dead")), classicDead],
    bindings: [binding("orders", "orders", "order.placed")],
  });

/** A consumer's queue, its dead queue, and a queue for messages that publishers delay. */
const waitingIn = (given: Arguments): DefinitionsExample =>
  definitions({
    exchanges: [exchange("orders", "topic")],
    queues: [
      queue("orders", deadTo("orders.dead")),
      classicDead,
      queue("orders.later", { ...given, ...deadTo("orders") }),
    ],
    bindings: [binding("orders", "orders", "order.placed")],
  });

/** Resources that go away or are full, that a version refuses, and that hold messages too long or too short. */
export const lifetimeExamples = {
  RD433: {
    fires: definitions({
      queues: [queue("orders", deadTo("orders.dead")), { ...classicDead, auto_delete: true }],
    }),
    quiet: definitions({ queues: [queue("orders", deadTo("orders.dead")), classicDead] }),
  },
  RD434: {
    fires: deadThrough({ ...exchange("orders.failed", "fanout"), durable: false }),
    quiet: deadThrough(exchange("orders.failed", "fanout")),
  },
  RD435: {
    fires: onVersion("4.0.5", mirrored({ "ha-mode": "all" })),
    quiet: onVersion("4.0.5", mirrored({})),
  },
  RD436: {
    fires: deadIn(queue("orders.dead", { "x-max-length": 1_000, "x-overflow": "reject-publish" })),
    quiet: deadIn(
      quorum("orders.dead", { "x-max-length": 1_000, "x-overflow": "reject-publish", "x-delivery-limit": -1 }),
    ),
  },
  RD437: {
    fires: withAlternate("orders.unrouted"),
    quiet: withAlternate("amq.fanout"),
  },
  RD438: {
    fires: waitingIn({ "x-message-ttl": 5_000, "x-max-length": 1_000 }),
    quiet: waitingIn({ "x-message-ttl": 5_000 }),
  },
  RD439: {
    fires: waitingIn({}),
    quiet: waitingIn({ "x-message-ttl": 5_000 }),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
