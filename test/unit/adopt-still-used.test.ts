import { expect, test } from "vitest";

import type { Adopted } from "../../src/migrate/adopt.ts";
import { renderAdoption } from "../../src/report/adoption.ts";
import { binding, exchange, queue, vhosts, waiting } from "../support/known-topologies.ts";
import { adopting } from "../support/reported-by-adopt.ts";

// Nobody may delete an old queue while messages of others come into it: the broker would drop them.

const quorum = { "x-queue-type": "quorum" };
const bare = (name: string): object => queue(name, quorum);
const dyingTo = (key: string) => ({ "x-dead-letter-exchange": "", "x-dead-letter-routing-key": key });

interface Parts {
  readonly exchanges: readonly object[];
  readonly queues: readonly object[];
  readonly bindings: readonly object[];
}

function adopt(parts: Parts, queues: readonly string[] = []): Adopted {
  const text = JSON.stringify({ rabbitmq_version: "4.3.6", vhosts, policies: [], ...parts });
  const adopted = adopting({ kind: "adopt", text, queues }, "rabbitmq@4.3", "shop");
  return adopted.ok ? adopted.value : expect.unreachable();
}

const said = (adopted: Adopted): readonly string[] =>
  renderAdoption(adopted, false, null)
    .split("\n")
    .map((line) => line.trim());

test.each([
  ["the source itself", "orders", "delayed.#"],
  ["an exchange of its own", "sched", "later"],
])("producers delay messages by %s: the waiting queue goes only when they no longer do", (_, source, key) => {
  const parts = (work: object): Parts => ({
    exchanges: [exchange("orders", "topic"), exchange("sched", "direct")],
    queues: [work, queue("orders.delay", { ...quorum, ...waiting(900_000, "", "orders.work") })],
    bindings: [binding("orders", "orders.work", "order.#"), binding(source, "orders.delay", key)],
  });
  const condition = `empty, and no program publishes to ${source} with ${key} any more`;
  const stays = said(adopt(parts(bare("orders.work"))));
  expect(stays.filter((line) => line.includes("is empty"))).toEqual([`2. when orders.delay is ${condition}, send:`]);
  const moves = said(adopt(parts(queue("orders.work", { ...quorum, "x-max-priority": 5 }))));
  expect(moves.filter((line) => line.includes("are empty"))).toEqual([
    expect.stringContaining(`when orders.work, orders.delay are ${condition}, stop the old code`),
  ]);
});

test("a queue that another one dead-letters into keeps its old code, and is not deleted", () => {
  const parts = {
    exchanges: [exchange("in", "fanout")],
    queues: [queue("stage1", dyingTo("stage2")), queue("stage2", dyingTo("stage3")), queue("stage3")],
    bindings: [binding("in", "stage1"), binding("in", "stage2")],
  };
  const adopted = adopt(parts, ["stage2"]);
  expect(adopted.imports.moves).toMatchObject([{ remove: [], used: [{ queue: "stage2", feeders: ["stage1"] }] }]);
  const lines = said(adopted);
  expect(lines).toContain("keep the old code of stage2 until then, because they do not come into stage2.2");
  expect(
    lines.filter((line) => line.includes("stop the old code") || line.includes("DELETE /api/queues/%2F/stage2")),
  ).toEqual([]);
  // Without the first stage it goes.
  const alone = adopt({ ...parts, queues: parts.queues.slice(1), bindings: parts.bindings.slice(1) }, ["stage2"]);
  expect(alone.imports.moves.map(({ remove }) => remove)).toEqual([["DELETE /api/queues/%2F/stage2"]]);
});

test("a waiting queue that another queue dead-letters into stays", () => {
  const adopted = adopt(
    {
      exchanges: [exchange("ex", "direct")],
      queues: [
        ...["a", "b"].map((name) => queue(name, { ...quorum, ...dyingTo("wait") })),
        queue("wait", waiting(500_000, "ex", "a")),
      ],
      bindings: [binding("ex", "a", "a"), binding("ex", "b", "b")],
    },
    ["a"],
  );
  expect(adopted.imports.moves.map(({ remove }) => remove)).toEqual([["DELETE /api/queues/%2F/a"]]);
  const lines = said(adopted);
  expect(lines).toContain("leave wait as long as the dead letters of b come into it");
  expect(lines.filter((line) => line.includes("empty, stop"))).toEqual([
    expect.stringContaining("when a is empty, stop the old code"),
  ]);
});

test("messages that come back from a waiting queue of several consumers are waited for", () => {
  const adopted = adopt({
    exchanges: [exchange("ex", "direct"), exchange("dlx", "fanout"), exchange("back", "direct")],
    queues: [
      ...["a", "b"].map((name) => queue(name, { ...quorum, "x-dead-letter-exchange": "dlx" })),
      queue("wait", { "x-message-ttl": 500_000, "x-dead-letter-exchange": "back" }),
    ],
    bindings: [
      ...["a", "b"].flatMap((name) => [binding("ex", name, name), binding("back", name, name)]),
      binding("dlx", "wait"),
    ],
  });
  expect(adopted.imports.moves.map(({ sharedWaits, backWays }) => [sharedWaits, backWays])).toEqual([
    [["wait"], ["back"]],
    [["wait"], ["back"]],
  ]);
  expect(said(adopted).filter((line) => line.includes("empty, stop"))).toEqual(
    ["a", "b"].map((name) => expect.stringContaining(`when ${name}, wait are empty, stop the old code`)),
  );
});
