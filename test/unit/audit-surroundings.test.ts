import { expect, test } from "vitest";

import { topicIndex } from "../../src/brokers/rabbitmq/prove/topic-index.ts";
import { findingsIn } from "../support/audit.ts";
import { binding, bound, deadThrough, deadTo, exchange, queue, waiting } from "../support/known-topologies.ts";

const contains = (wide: string, narrow: string): boolean =>
  topicIndex([{ pattern: wide, item: wide }]).containing(narrow).length > 0;

// Only its place in the topology shows the purpose of a queue. These places are easily mistaken.

type Definitions = Readonly<Record<"exchanges" | "queues" | "bindings", readonly object[]>> & {
  readonly policies?: readonly object[];
};

/** The findings of an audit: each code with its queues. */
function audit(definitions: Definitions, version = "4.0.5"): Record<string, string[]> {
  const byCode = Map.groupBy(findingsIn(definitions, version), ({ code }) => code);
  return Object.fromEntries(
    [...byCode].map(([code, all]) => [
      code,
      [
        ...new Set(
          all.flatMap(({ value, path, message }) => (Array.isArray(value) ? value : [message.split(" ")[0] ?? path])),
        ),
      ].toSorted(),
    ]),
  ) as Record<string, string[]>;
}

const quorum = { "x-queue-type": "quorum" };

test("a consumer's queue that only a wait queue leads to is not a dead queue", () => {
  const found = audit({
    exchanges: [],
    queues: [queue("default", quorum), queue("default.delay", waiting(5_000, "", "default"))],
    bindings: [],
  });
  expect(found["RD421"]).toBeUndefined();
  expect(found["RD420"]).toEqual(["default"]);
});

test("a queue that exists only while messages wait in it is a wait queue, with any publisher", () => {
  const found = audit({
    exchanges: [exchange("messages", "fanout"), exchange("delays", "direct")],
    queues: [
      queue("messages", quorum),
      queue("delay_5000", {
        ...quorum,
        "x-message-ttl": 5_000,
        "x-expires": 15_000,
        ...deadThrough("messages"),
      }),
    ],
    bindings: [binding("messages", "messages"), binding("delays", "delay_5000", "delay_5000")],
  });
  expect(found["RD419"]).toEqual(["delay_5000"]);
  expect(found["RD421"]).toBeUndefined();
});

const behindAlternate = {
  exchanges: [exchange("in", "direct"), exchange("failed", "direct"), exchange("rest", "fanout")],
  queues: [
    queue("work", { ...quorum, ...deadThrough("failed") }),
    queue("dead", { ...quorum, "x-delivery-limit": -1 }),
  ],
  bindings: [binding("in", "work", "a"), binding("rest", "dead")],
};

test("a dead queue behind an alternate exchange that a policy names", () => {
  const definition = { "alternate-exchange": "rest" };
  const policy = { vhost: "/", name: "ae", pattern: "^failed$", "apply-to": "exchanges", priority: 0, definition };
  expect(audit({ ...behindAlternate, policies: [policy] })).toEqual({});
});

test("a dead queue behind an exchange that is bound to the dead-letter exchange", () => {
  const bindings = [...behindAlternate.bindings, binding("failed", "rest", "a", "exchange")];
  expect(audit({ ...behindAlternate, bindings })).toEqual({});
});

test("of two queues that send their expired messages to each other, the slower one has a consumer", () => {
  const found = audit({
    exchanges: [],
    queues: [
      queue("emails", waiting(86_400_000, "", "emails.retry")),
      queue("emails.retry", waiting(30_000, "", "emails")),
    ],
    bindings: [],
  });
  expect(found["RD416"]).toEqual(["emails"]);
});

test("a queue whose publishers set each message's expiration has no consumer", () => {
  const found = audit(
    {
      exchanges: [exchange("failed", "fanout"), exchange("jobs", "direct")],
      queues: [
        queue("jobs", { ...quorum, "x-delivery-limit": 5, ...deadThrough("failed") }),
        queue("jobs.delay", { ...quorum, ...deadTo("jobs") }),
        queue("jobs.dead", quorum),
      ],
      bindings: [binding("jobs", "jobs", "jobs"), binding("failed", "jobs.dead")],
    },
    "3.13.7",
  );
  expect(found).toEqual({ RD439: ["jobs.delay"] });
});

/** Two consumers of one exchange. The first one's retries come back through that exchange. */
const siblings = (kind: string, key: string, otherKey: string): Definitions => ({
  exchanges: [exchange("events", kind), exchange("retry", "fanout"), exchange("failed", "fanout")],
  queues: [
    queue("a", deadThrough("retry")),
    queue("a.wait", waiting(5_000, "events")),
    queue("b", deadThrough("failed")),
    queue("dead"),
  ],
  bindings: [
    binding("events", "a", key),
    binding("events", "b", otherKey),
    binding("retry", "a.wait"),
    binding("failed", "dead"),
  ],
});

test.for([
  ["fanout", "", "", true],
  ["topic", "order.*", "order.*", true],
  ["topic", "order.*", "order.#", true],
  // Some keys of one consumer are no keys of the other.
  ["topic", "order.*", "*.placed", false],
  ["direct", "placed", "cancelled", false],
] as const)("retries through a %s exchange: %s and %s", ([kind, key, otherKey, isFound]) => {
  expect(audit(siblings(kind, key, otherKey))["RD424"]).toEqual(isFound ? ["a"] : undefined);
});

test("retries that come back for some keys, and go to another consumer for others", () => {
  const found = audit({
    exchanges: [exchange("in", "direct"), exchange("retry", "fanout"), exchange("again", "direct")],
    queues: [
      queue("w1", deadThrough("retry")),
      queue("w2", deadThrough("retry")),
      queue("wait", waiting(5_000, "again")),
    ],
    bindings: bound("in > w1: k1", "in > w2: k2", "in > w2: k1", "retry > wait", "again > w1: k1", "again > w2: k2"),
  });
  expect(found["RD424"]).toEqual(["w2"]);
});

test.for([
  // The kind and the key of the source and of the dead-letter exchange, and a key without a route.
  ["topic", "order.*", "topic", "order.placed", "order.any"],
  ["topic", "order.*", "topic", "order.*", null],
  ["topic", "order.*", "topic", "#", null],
  ["topic", "#", "topic", "payment.#", "any"],
  ["topic", "#", "topic", "*", "any.any"],
  ["topic", "pay.#", "topic", "pay.*", "pay"],
  ["topic", "pay.#", "topic", "*.#", null],
  ["topic", "any.*", "topic", "*.a", "any.any2"],
  ["fanout", "", "direct", "orders", null],
  ["topic", "order.a", "headers", { type: "order" }, "order.a"],
  ["headers", { type: "order" }, "headers", { type: "order" }, null],
  ["headers", { type: "order", "x-match": "any", id: 1 }, "headers", { type: "order" }, "any"],
] as const)("a %s source with %j, and a %s dead-letter exchange with %j", ([kind, key, dlx, deadKey, lost]) => {
  const way = (source: string, destination: string, by: string | object): object =>
    typeof by === "string" ? binding(source, destination, by) : { ...binding(source, destination), arguments: by };
  const found = findingsIn(
    {
      exchanges: [exchange("events", kind), exchange("failed", dlx)],
      queues: [queue("orders", deadThrough("failed")), queue("dead")],
      bindings: [way("events", "orders", key), way("failed", "dead", deadKey)],
    },
    "4.0.5",
  );
  const told = lost === null ? [] : [["RD429", expect.stringMatching(`^a dead letter with the key ${lost}[ ,]`)]];
  expect(found.map(({ code, notes }) => [code, notes[0]])).toEqual(told);
});

test("an exchange that an export leaves out counts as the kind that its bindings suggest", () => {
  const definitions = {
    exchanges: [exchange("in", "direct")],
    queues: [
      queue("w1", deadThrough("internal", "w1")),
      queue("w2", deadThrough("internal", "w2")),
      queue("w1.wait", waiting(1_000, "", "w1")),
      queue("w2.wait", waiting(1_000, "", "w2")),
    ],
    bindings: bound("in > w1: k1", "in > w2: k2", "internal > w1.wait: w1", "internal > w2.wait: w2"),
  };
  // A fanout exchange would send the retries of each to the other.
  expect(audit(definitions)).toEqual({ RD416: ["w1", "w2"] });
});

test("a queue with too many paths is reported as judged in part, and the others are judged", () => {
  const waits = Array.from({ length: 9 }, (_, index) => `wait.${index}`);
  const definitions = {
    exchanges: [exchange("retry", "fanout")],
    queues: [
      queue("work", { ...quorum, "x-delivery-limit": 5, ...deadThrough("retry") }),
      queue("self", deadTo("self")),
      ...waits.map((name) => queue(name, waiting(1_000, "", "work"))),
    ],
    bindings: waits.map((name) => binding("retry", name)),
  };
  const found = audit(definitions, "3.10.8");
  expect(found["RD428"]).toEqual(["work"]);
  expect(found["RD414"]).toContain("self");
  expect(found["RD416"]).toEqual(["work"]);
  // From 3.13 on, only a few orders of deaths make a difference.
  expect(audit(definitions, "3.13.7")["RD428"]).toBeUndefined();
});

test.for([
  ["#", "a.*", true],
  ["a.#", "a", true],
  ["a.*", "a.#", false],
  ["*.b", "*.b", true],
  ["*.b", "a.b", true],
  ["a.b", "*.b", false],
  ["#.b", "a.#.b", true],
] as const)("%s contains %s: %s", ([wide, narrow, expected]) => {
  expect(contains(wide, narrow)).toBe(expected);
});
