import { expect, test } from "vitest";

import type { Watched } from "../../src/brokers/migrating.ts";
import { type Gate, type Observed, isOpen, isQuiet, observe } from "../../src/migrate/gate.ts";

const gate: Gate = {
  drained: ["shop.billing", "shop.attempt.2.30s"],
  quietMs: 40_000,
  aloneMs: 10_000,
  waitsMs: new Map([["shop.attempt.2.30s", 30_000]]),
  left: ["shop.orders"],
  held: ["shop.invoices"],
};

const queue = (name: string, own: Partial<Watched> = {}): Watched => {
  return { kind: "queue", name, messages: { ready: 0, dlx: 0 }, moved: "[]", connections: [], ...own };
};

const empty = [queue("shop.billing"), queue("shop.attempt.2.30s")];

/** Looks at the same queues for a time, every second. */
function watched(queues: readonly Watched[], fromMs: number, forMs: number, before: Observed | null = null): Observed {
  let observed = observe(gate, queues, before, fromMs);
  for (let atMs = fromMs; atMs <= fromMs + forMs; atMs += 1_000) observed = observe(gate, queues, observed, atMs);
  return observed;
}

test("it opens after the longest delay without a message, and not before", () => {
  expect(isOpen(gate, watched(empty, 0, 39_000), 39_000)).toBe(false);
  expect(isOpen(gate, watched(empty, 0, 40_000), 40_000)).toBe(true);
});

test.each([
  ["ready", "3 messages in shop.attempt.2.30s (3 ready), due within 30s"],
  ["unacknowledged", "3 messages in shop.attempt.2.30s (3 unacknowledged), due within 30s"],
  ["dlx", "3 messages in shop.attempt.2.30s (3 dlx), due within 30s"],
  ["delayed", "3 messages in shop.attempt.2.30s (3 delayed), due within 30s"],
])("messages that are %s are in the way, with their number and the time they are due", (state, text) => {
  const held = [queue("shop.billing"), queue("shop.attempt.2.30s", { messages: { ready: 0, [state]: 3 } })];
  const observed = watched(held, 0, 60_000);
  expect(observed.messages).toEqual([text]);
  expect(isQuiet(gate, observed, 60_000)).toBe(false);
});

test("a delivery between two looks begins the time anew", () => {
  const moved = [queue("shop.billing", { moved: '[["ack",1]]' }), queue("shop.attempt.2.30s")];
  const observed = watched(moved, 31_000, 30_000, watched(empty, 0, 30_000));
  expect(isQuiet(gate, observed, 61_000)).toBe(false);
  expect(isQuiet(gate, watched(moved, 62_000, 9_000, observed), 71_000)).toBe(true);
});

test("a consumer is in the way, and what it had comes back within the lag of the counts", () => {
  const attached = [
    queue("shop.billing", { connections: ["10.0.0.7:5000 -> 10.0.0.1:5672"] }),
    queue("shop.attempt.2.30s"),
  ];
  const observed = watched(attached, 0, 50_000);
  expect(observed.consumers).toEqual(["the consumer 10.0.0.7:5000 -> 10.0.0.1:5672 takes from shop.billing"]);
  expect([isQuiet(gate, observed, 50_000), isOpen(gate, observed, 50_000)]).toEqual([true, false]);
  expect(isOpen(gate, watched(empty, 51_000, 9_000, observed), 60_000)).toBe(false);
  expect(isOpen(gate, watched(empty, 51_000, 10_000, observed), 61_000)).toBe(true);
});

test("a queue that the broker has not counted is in the way, and a queue that is gone is not", () => {
  const uncounted = [queue("shop.billing", { messages: {} })];
  expect(observe(gate, uncounted, null, 0).messages).toEqual([
    "the broker has not yet counted the messages in shop.billing",
  ]);
});

test("a message to a source that publishers leave begins the time anew, and is in the way", () => {
  const source = (count: number) =>
    ({ ...queue("shop.orders"), kind: "source", messages: {}, moved: `[["publish_in",${count}]]` }) as const;
  const before = watched([...empty, source(1)], 0, 39_000);
  expect(before.messages).toEqual([]);
  const moved = observe(gate, [...empty, source(2)], before, 40_000);
  expect(moved.messages).toEqual(["a program still publishes to shop.orders"]);
  expect(isQuiet(gate, watched([...empty, source(2)], 41_000, 39_000, moved), 80_000)).toBe(false);
  expect(isOpen(gate, watched([...empty, source(2)], 41_000, 40_000, moved), 81_000)).toBe(true);
  // A queue may have the name of the source.
  expect(observe(gate, [...empty, { ...queue("shop.orders"), moved: "[9]" }], before, 40_000).messages).toEqual([]);
});

test("a consumer of a queue that has to wait is in the way, whether it has a message or only a connection", () => {
  const words = ["a consumer takes from shop.invoices, where messages have to wait for earlier ones: stop it"];
  const early = (own: Partial<Watched>) => watched([...empty, queue("shop.invoices", own)], 0, 60_000);
  expect(early({ isTaken: true }).messages).toEqual(words);
  expect(early({ connections: ["10.0.0.7:5000 -> 10.0.0.1:5672"] }).messages).toEqual(words);
  expect(isOpen(gate, early({ isTaken: true }), 60_000)).toBe(false);
  expect(isOpen(gate, early({ isTaken: false, messages: { visible: 9 } }), 60_000)).toBe(true);
});
