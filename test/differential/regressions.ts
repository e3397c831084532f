import type {
  Arguments,
  BrokerBinding,
  BrokerQueue,
  SemanticsVersion,
} from "../../src/brokers/rabbitmq/prove/semantics.ts";
import type { Action, DifferentialCase } from "./topologies.ts";

/** A case in which broker and semantics once differed, or with a surprising outcome. */
export interface Regression {
  readonly name: string;
  readonly differentialCase: DifferentialCase;
  /** The classes of versions that know the features of the case. All, if it is missing. */
  readonly needs?: readonly SemanticsVersion[];
}

function queue(name: string, kind: "classic" | "quorum", given: Arguments = {}): BrokerQueue {
  return { name, kind, arguments: { "x-queue-type": kind, ...given } };
}

function binding(source: string, destination: string, given: Arguments = {}): BrokerBinding {
  return { source, destination, destinationKind: "queue", routingKey: "", arguments: given };
}

function repeat(kind: Action["kind"], times: number): readonly Action[] {
  return Array.from({ length: times }, () => ({ kind, pick: 0 }));
}

const noTopology: DifferentialCase["topology"] = { exchanges: [], queues: [], bindings: [], policies: [] };
const toDefault = (key: string): Arguments => ({ "x-dead-letter-exchange": "", "x-dead-letter-routing-key": key });

export const regressions: readonly Regression[] = [
  {
    name: "a BCC key that equals the routing key hides the routing key in x-death",
    differentialCase: {
      topology: { ...noTopology, queues: [queue("@q0", "quorum", toDefault("@q1")), queue("@q1", "quorum")] },
      publication: { exchange: "", routingKey: "@q0", headers: { CC: ["b"], BCC: ["@q0"] } },
      actions: repeat("nack", 1),
    },
  },
  {
    name: "BCC keys hide even the dead-letter routing key that took their place",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [
          queue("@q0", "quorum", toDefault("@q1")),
          queue("@q1", "quorum", toDefault("@q2")),
          queue("@q2", "quorum"),
        ],
      },
      publication: { exchange: "", routingKey: "@q0", headers: { BCC: ["@q1"] } },
      actions: repeat("nack", 2),
    },
  },
  {
    name: "a delivery limit that is a string",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [queue("@q0", "quorum", { ...toDefault("@q1"), "x-delivery-limit": "1" }), queue("@q1", "classic")],
      },
      publication: { exchange: "", routingKey: "@q0" },
      actions: repeat("crash", 22),
    },
  },
  {
    name: "a delivery limit of -1",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [queue("@q0", "quorum", { ...toDefault("@q1"), "x-delivery-limit": -1 }), queue("@q1", "classic")],
      },
      publication: { exchange: "", routingKey: "@q0" },
      actions: repeat("crash", 3),
    },
  },
  {
    name: "failures are counted over classic queues too",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [
          queue("@q0", "quorum", toDefault("@q1")),
          queue("@q1", "classic", toDefault("@q2")),
          queue("@q2", "quorum", { ...toDefault("@q3"), "x-delivery-limit": 4 }),
          queue("@q3", "quorum"),
        ],
      },
      publication: { exchange: "", routingKey: "@q0" },
      actions: [...repeat("reject", 1), ...repeat("crash", 2), ...repeat("reject", 1), ...repeat("crash", 6)],
    },
  },
  {
    name: "the crash limit leads into a tier that leads back: the message vanishes",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [
          queue("@work", "quorum", { ...toDefault("@wait"), "x-delivery-limit": 2 }),
          queue("@wait", "quorum", { ...toDefault("@work"), "x-message-ttl": 40 }),
        ],
      },
      publication: { exchange: "", routingKey: "@work" },
      actions: repeat("crash", 3),
    },
  },
  {
    name: "the same after a rejection: 3.10 lets it go round",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [
          queue("@work", "quorum", { ...toDefault("@wait"), "x-delivery-limit": 1 }),
          queue("@wait", "quorum", { ...toDefault("@work"), "x-message-ttl": 40 }),
        ],
      },
      publication: { exchange: "", routingKey: "@work" },
      actions: [...repeat("nack", 1), ...repeat("crash", 6)],
    },
  },
  {
    name: "the same with at-least-once dead-lettering: the message is retained",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [
          queue("@work", "quorum", { ...toDefault("@wait"), "x-delivery-limit": 2 }),
          queue("@wait", "quorum", {
            ...toDefault("@work"),
            "x-message-ttl": 40,
            "x-dead-letter-strategy": "at-least-once",
            "x-overflow": "reject-publish",
          }),
        ],
      },
      publication: { exchange: "", routingKey: "@work" },
      actions: repeat("crash", 3),
    },
  },
  {
    name: "on 3.10 the records in x-death are turned round at every death from the third on",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [
          queue("@q0", "classic", toDefault("@q1")),
          queue("@q1", "quorum", toDefault("@q2")),
          queue("@q2", "classic", toDefault("@q3")),
          queue("@q3", "quorum", toDefault("@q0")),
        ],
      },
      publication: { exchange: "", routingKey: "@q0", headers: { CC: ["a"] }, expirationMs: 600_000 },
      actions: repeat("nack", 7),
    },
  },
  {
    name: "a headers exchange sees the last death only from 3.13 on",
    differentialCase: {
      topology: {
        ...noTopology,
        exchanges: [{ name: "@x0", kind: "headers", arguments: {} }],
        queues: [
          queue("@q0", "quorum", { "x-dead-letter-exchange": "@x0", "x-delivery-limit": 0 }),
          queue("@q1", "quorum"),
          queue("@q2", "quorum"),
        ],
        bindings: [
          binding("@x0", "@q1", { "x-match": "all-with-x", "x-last-death-reason": "delivery_limit" }),
          binding("@x0", "@q2", { "x-match": "all-with-x", "x-first-death-reason": "delivery_limit" }),
        ],
      },
      publication: { exchange: "", routingKey: "@q0" },
      actions: repeat("crash", 1),
    },
  },
  {
    name: "dead-letter keys from a policy without an exchange do nothing",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [queue("@q0", "classic"), queue("@q1", "classic")],
        policies: [
          {
            name: "@p0",
            kind: "user",
            pattern: "^@q0$",
            applyTo: "queues",
            priority: 0,
            definition: { "dead-letter-routing-key": "@q1" },
          },
        ],
      },
      publication: { exchange: "", routingKey: "@q0" },
      actions: repeat("reject", 1),
    },
  },
  {
    name: "a policy with a quorum key does not apply to a classic queue at all",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [queue("@q0", "classic"), queue("@q1", "classic")],
        policies: [
          {
            name: "@p0",
            kind: "user",
            pattern: "^@q0$",
            applyTo: "queues",
            priority: 0,
            definition: { "delivery-limit": 1, "dead-letter-exchange": "", "dead-letter-routing-key": "@q1" },
          },
        ],
      },
      publication: { exchange: "", routingKey: "@q0" },
      actions: repeat("reject", 1),
    },
  },
  {
    name: "at-least-once into the source itself: 3.10 keeps the dead letter although its copy has arrived",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [
          queue("@q0", "quorum", {
            ...toDefault("@q0"),
            "x-dead-letter-strategy": "at-least-once",
            "x-overflow": "reject-publish",
          }),
        ],
      },
      publication: { exchange: "", routingKey: "@q0" },
      actions: repeat("nack", 2),
    },
  },
  {
    name: "3.10 reads a published x-death, and keeps one record of each queue and reason at the second death",
    differentialCase: {
      topology: {
        ...noTopology,
        queues: [
          queue("@q0", "quorum", toDefault("@q1")),
          queue("@q1", "quorum", toDefault("@q0")),
          queue("@q2", "classic"),
        ],
      },
      publication: {
        exchange: "",
        routingKey: "@q0",
        headers: {
          "x-death": [2, 1].map((count) => ({
            queue: "@q2",
            reason: "rejected",
            exchange: "",
            count,
            "routing-keys": ["a"],
          })),
        },
      },
      actions: repeat("nack", 3),
    },
  },
];
