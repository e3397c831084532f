import type {
  Arguments,
  BrokerBinding,
  BrokerQueue,
  HeaderValue,
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

/** A policy for the queue @q0. */
const policy = (definition: Arguments): DifferentialCase["topology"]["policies"][number] => {
  return { name: "@p0", kind: "user", pattern: "^@q0$", applyTo: "queues", priority: 0, definition };
};
const safely: Arguments = { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" };
const toDefault = (key: string): Arguments => ({ "x-dead-letter-exchange": "", "x-dead-letter-routing-key": key });

const death = { queue: "@q2", reason: "rejected", exchange: "" };

/** A message that is published to the queue @q0, if nothing else is said. */
type Case = Pick<DifferentialCase, "actions"> &
  Pick<DifferentialCase["topology"], "queues"> &
  Partial<DifferentialCase["topology"]> & { readonly publication?: Partial<DifferentialCase["publication"]> };

const cases: Readonly<Record<string, Case>> = {
  "a BCC key that equals the routing key hides the routing key in x-death": {
    queues: [queue("@q0", "quorum", toDefault("@q1")), queue("@q1", "quorum")],
    publication: { headers: { CC: ["b"], BCC: ["@q0"] } },
    actions: repeat("nack", 1),
  },
  "BCC keys hide even the dead-letter routing key that took their place": {
    queues: [
      queue("@q0", "quorum", toDefault("@q1")),
      queue("@q1", "quorum", toDefault("@q2")),
      queue("@q2", "quorum"),
    ],
    publication: { headers: { BCC: ["@q1"] } },
    actions: repeat("nack", 2),
  },
  "a delivery limit that is a string": {
    queues: [queue("@q0", "quorum", { ...toDefault("@q1"), "x-delivery-limit": "1" }), queue("@q1", "classic")],
    actions: repeat("crash", 22),
  },
  "a delivery limit of -1": {
    queues: [queue("@q0", "quorum", { ...toDefault("@q1"), "x-delivery-limit": -1 }), queue("@q1", "classic")],
    actions: repeat("crash", 3),
  },
  "failures are counted over classic queues too": {
    queues: [
      queue("@q0", "quorum", toDefault("@q1")),
      queue("@q1", "classic", toDefault("@q2")),
      queue("@q2", "quorum", { ...toDefault("@q3"), "x-delivery-limit": 4 }),
      queue("@q3", "quorum"),
    ],
    actions: [...repeat("reject", 1), ...repeat("crash", 2), ...repeat("reject", 1), ...repeat("crash", 6)],
  },
  "the crash limit leads into a tier that leads back: the message vanishes": {
    queues: [
      queue("@work", "quorum", { ...toDefault("@wait"), "x-delivery-limit": 2 }),
      queue("@wait", "quorum", { ...toDefault("@work"), "x-message-ttl": 40 }),
    ],
    publication: { routingKey: "@work" },
    actions: repeat("crash", 3),
  },
  "the same after a rejection: 3.10 lets it go round": {
    queues: [
      queue("@work", "quorum", { ...toDefault("@wait"), "x-delivery-limit": 1 }),
      queue("@wait", "quorum", { ...toDefault("@work"), "x-message-ttl": 40 }),
    ],
    publication: { routingKey: "@work" },
    actions: [...repeat("nack", 1), ...repeat("crash", 6)],
  },
  "the same with at-least-once dead-lettering: the message is retained": {
    queues: [
      queue("@work", "quorum", { ...toDefault("@wait"), "x-delivery-limit": 2 }),
      queue("@wait", "quorum", { ...toDefault("@work"), "x-message-ttl": 40, ...safely }),
    ],
    publication: { routingKey: "@work" },
    actions: repeat("crash", 3),
  },
  "on 3.10 the records in x-death are turned round at every death from the third on": {
    queues: [
      queue("@q0", "classic", toDefault("@q1")),
      queue("@q1", "quorum", toDefault("@q2")),
      queue("@q2", "classic", toDefault("@q3")),
      queue("@q3", "quorum", toDefault("@q0")),
    ],
    publication: { headers: { CC: ["a"] }, expirationMs: 600_000 },
    actions: repeat("nack", 7),
  },
  "a headers exchange sees the last death only from 3.13 on": {
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
    actions: repeat("crash", 1),
  },
  "routing by x-last-death-exchange, which a publisher sets too: only 3.10 believes it": {
    exchanges: [
      { name: "@x0", kind: "headers", arguments: {} },
      { name: "@again", kind: "fanout", arguments: {} },
    ],
    queues: [
      queue("@q0", "quorum", { "x-dead-letter-exchange": "@x0" }),
      queue("@q1", "quorum", { "x-dead-letter-exchange": "@again", "x-message-ttl": 40 }),
      queue("@q2", "quorum"),
    ],
    bindings: [
      binding("@again", "@q0"),
      binding("@x0", "@q1", { "x-match": "all-with-x", "x-last-death-exchange": "" }),
      binding("@x0", "@q2", { "x-match": "all-with-x", "x-last-death-exchange": "@again" }),
    ],
    publication: { headers: { "x-last-death-exchange": "@again", "x-last-death-reason": "rejected" } },
    actions: repeat("nack", 2),
  },
  "dead-letter keys from a policy without an exchange do nothing": {
    queues: [queue("@q0", "classic"), queue("@q1", "classic")],
    policies: [policy({ "dead-letter-routing-key": "@q1" })],
    actions: repeat("reject", 1),
  },
  "a policy with a quorum key does not apply to a classic queue at all": {
    queues: [queue("@q0", "classic"), queue("@q1", "classic")],
    policies: [policy({ "delivery-limit": 1, "dead-letter-exchange": "", "dead-letter-routing-key": "@q1" })],
    actions: repeat("reject", 1),
  },
  "at-least-once into the source itself: 3.10 keeps the dead letter although its copy has arrived": {
    queues: [queue("@q0", "quorum", { ...toDefault("@q0"), ...safely })],
    actions: repeat("nack", 2),
  },
  "3.10 reads a published x-death, and keeps one record of each queue and reason at the second death": {
    queues: [
      queue("@q0", "quorum", toDefault("@q1")),
      queue("@q1", "quorum", toDefault("@q0")),
      queue("@q2", "classic"),
    ],
    publication: { headers: { "x-death": [2, 1].map((count) => ({ ...death, count, "routing-keys": ["a"] })) } },
    actions: repeat("nack", 3),
  },
  "with an empty x-death a publisher keeps its own first death on 3.10": forged([]),
  "with an x-death that is no list, too": forged("none"),
};

/** A message that dies after its publisher forged its first death. */
function forged(deaths: HeaderValue): Case {
  return {
    exchanges: [{ name: "@x0", kind: "headers", arguments: {} }],
    queues: [
      queue("@q0", "quorum", { "x-dead-letter-exchange": "@x0" }),
      queue("@q1", "quorum"),
      queue("@q2", "quorum"),
    ],
    bindings: [
      binding("@x0", "@q1", { "x-match": "all-with-x", "x-first-death-queue": "@q0" }),
      binding("@x0", "@q2", { "x-match": "all-with-x", "x-first-death-queue": "@q1" }),
    ],
    publication: { headers: { "x-first-death-queue": "@q1", "x-death": deaths } },
    actions: repeat("nack", 1),
  };
}

export const regressions: readonly Regression[] = Object.entries(cases).map(
  ([name, { publication, actions, ...topology }]) => ({
    name,
    differentialCase: {
      topology: { exchanges: [], bindings: [], policies: [], ...topology },
      publication: { exchange: "", routingKey: "@q0", ...publication },
      actions,
    },
  }),
);
