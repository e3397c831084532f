import { expect, test } from "vitest";

import { brokers, compile, type CompiledSystem } from "../../src/index.ts";
import type { Adopted } from "../../src/migrate/adopt.ts";
import { renderAdoption } from "../../src/report/adoption.ts";
import { accepted, checked } from "../support/examples.ts";
import { type Parts, binding, bound, exchange, exported, queue, waiting } from "../support/known-topologies.ts";
import { adopting } from "../support/reported-by-adopt.ts";

// Nobody may delete an old queue while messages of others come into it: the broker would drop them.

const quorum = { "x-queue-type": "quorum" };
const bare = (name: string): object => queue(name, quorum);
const dyingTo = (key: string) => ({ "x-dead-letter-exchange": "", "x-dead-letter-routing-key": key });

function adopt(parts: Parts, queues: readonly string[] = []): Adopted {
  const adopted = adopting({ kind: "adopt", text: exported(parts), queues }, "rabbitmq@4.3", "shop");
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
  expect(adopted.imports.moves).toMatchObject([
    { remove: [], used: [{ queue: "stage2", feeders: ["the dead letters of stage1"] }] },
  ]);
  const lines = said(adopted);
  expect(lines).toContain("keep the old code of stage2 until then, because they do not come into stage2.2");
  expect(
    lines.filter(
      (line) => line.includes("stop the old code") || line.includes("DELETE '/api/queues/%2F/stage2?if-empty=true'"),
    ),
  ).toEqual([]);
  // Without the first stage it goes.
  const alone = adopt({ ...parts, queues: parts.queues.slice(1), bindings: parts.bindings.slice(1) }, ["stage2"]);
  expect(alone.imports.moves.map(({ remove }) => remove)).toEqual([["DELETE '/api/queues/%2F/stage2?if-empty=true'"]]);
});

test("a shovel publishes to a waiting queue: it goes only when that one no longer does", () => {
  const adopted = adopt({
    queues: [bare("work"), queue("work.delay", { ...quorum, ...waiting(900_000, "", "work") })],
    exchanges: [exchange("in", "fanout")],
    bindings: [binding("in", "work"), binding("in", "work.delay")],
    parameters: [{ vhost: "/", component: "shovel", name: "wan", value: { "dest-queue": "work.delay" } }],
  });
  expect(said(adopted).filter((line) => line.includes("is empty"))).toEqual([
    "2. when work.delay is empty, and no program publishes to in, or to work.delay by the shovel wan any more, send:",
  ]);
});

const consumed = (name: string, deadLetterTo: string): object =>
  queue(name, { "x-max-priority": 5, ...dyingTo(deadLetterTo) });

test("a dead queue goes only when the queues where its letters wait are empty", () => {
  const adopted = adopt({
    exchanges: [exchange("in", "topic"), exchange("later", "direct")],
    queues: [
      consumed("pay", "pay.hold"),
      queue("pay.hold", waiting(60_000, "", "pay.retry")),
      queue("pay.retry", waiting(3_600_000, "", "pay.dead")),
      queue("pay.dead"),
    ],
    bindings: [binding("in", "pay", "pay.*"), binding("later", "pay.retry", "hour")],
  });
  const lines = said(adopted);
  expect(lines).toContain(
    "5. as soon as pay.retry, pay.hold are empty, because letters wait there, send the letters of pay.dead again:",
  );
  expect(lines).toContain(
    "npx redeliver dead redrive FILE --target rabbitmq@4.3 --consumer pay --queue pay.dead --url amqp://USER@HOST/%2F --management-url http://HOST:15672",
  );
  expect(lines).toContain(
    "npx redeliver dead discard --queue pay.dead --url amqp://USER@HOST/%2F --management-url http://HOST:15672 --backup pay.dead.ndjson --why REASON FILTER",
  );
  const last = lines.findIndex((line) => line.startsWith("6. "));
  expect(lines.slice(last, last + 4)).toEqual([
    "6. when pay.dead, pay.retry, pay.hold are empty, and no program publishes to later with hour any more, and no other consumer's letters come into pay.dead, send:",
    "api DELETE '/api/queues/%2F/pay.dead?if-empty=true'",
    "api DELETE '/api/queues/%2F/pay.retry?if-empty=true'",
    "api DELETE '/api/queues/%2F/pay.hold?if-empty=true'",
  ]);
});

test("the queues of a chain of waits go together with the old queue", () => {
  const chain = (more: readonly object[]): Parts => ({
    exchanges: [exchange("in", "topic")],
    queues: [
      consumed("a", "w1"),
      queue("w1", waiting(60_000, "", "w2")),
      queue("w2", waiting(60_000, "", "a")),
      ...more,
    ],
    bindings: [binding("in", "a", "x")],
  });
  const removals = (parts: Parts) => adopt(parts, ["a"]).imports.moves.map(({ remove }) => remove);
  expect(removals(chain([]))).toEqual([
    ["a", "w2", "w1"].map((name) => `DELETE '/api/queues/%2F/${name}?if-empty=true'`),
  ]);
  // The letters of another consumer wait there, and come back to the old queue.
  expect(removals(chain([consumed("b", "w1")]))).toEqual([[]]);
});

test("dead letters that come by a declared way come into the new queue", () => {
  const adopted = adopt({
    exchanges: [exchange("orders", "direct"), exchange("timeout", "direct")],
    queues: [
      queue("order.ttl", waiting(1_800_000, "timeout", "cancel")),
      queue("order.cancel", { "x-max-priority": 5 }),
    ],
    bindings: [binding("orders", "order.ttl", "create"), binding("timeout", "order.cancel", "cancel")],
  });
  expect(Object.keys(adopted.draft.system.consumers)).toEqual(["order.cancel"]);
  const [move] = adopted.imports.moves;
  expect(move?.remove).toEqual(["DELETE '/api/queues/%2F/order.cancel?if-empty=true'"]);
  expect(said(adopted).filter((line) => line.startsWith("keep the old code"))).toEqual([]);
});

test("an exchange that chooses one queue does not double messages, and changes their order", () => {
  const adopted = adopt({
    exchanges: [exchange("hash", "x-consistent-hash")],
    queues: ["a", "b"].map((name) => queue(name, { "x-max-priority": 5 })),
    bindings: [binding("hash", "a", "1"), binding("hash", "b", "1")],
  });
  expect(adopted.imports.moves.map(({ choosing }) => choosing)).toEqual([["hash"], ["hash"]]);
  const lines = said(adopted);
  expect(lines).toContain(
    "2. at once send these requests; until then each new message is in both queues. hash gives each message to one of them:",
  );
  expect(lines.join("\n")).toContain("If their order matters, stop the producers before you deploy");
  // Only the type tells it: an export leaves out internal exchanges.
  const unknown = adopt({ queues: [queue("a", { "x-max-priority": 5 })], bindings: [binding("internal", "a", "k")] });
  expect(unknown.imports.moves.map(({ choosing }) => choosing)).toEqual([[]]);
});

test("a binding of a headers exchange without x-match is the declared one", () => {
  const adopted = adopt({
    exchanges: [exchange("docs", "headers")],
    queues: [bare("all"), queue("priority", { "x-max-priority": 5 })],
    bindings: [binding("docs", "all"), binding("docs", "priority")],
  });
  expect(adopted.imports.stays.map(({ oldWays }) => oldWays)).toEqual([{ ends: [], staying: [] }]);
  expect(adopted.imports.moves.map(({ unbind, staying }) => [unbind.length, staying])).toEqual([[1, []]]);
});

test("no step takes away a queue where messages of producers wait", () => {
  const adopted = adopt({
    exchanges: [exchange("orders", "direct"), exchange("timeout", "direct")],
    queues: [
      queue("order.create", { "x-max-priority": 5 }),
      queue("order.delay", waiting(1_800_000, "timeout", "close")),
      queue("order.close", { "x-max-priority": 5 }),
    ],
    bindings: bound("orders > order.create: create", "orders > order.delay: delay", "timeout > order.close: close"),
  });
  expect(adopted.imports.moves.map(({ remove }) => remove)).toEqual([
    ["DELETE '/api/queues/%2F/order.create?if-empty=true'"],
    ["DELETE '/api/queues/%2F/order.close?if-empty=true'"],
  ]);
});

test("a stream keeps its letters, and no step deletes it", () => {
  const adopted = adopt({
    queues: [consumed("billing", "billing.dlq"), queue("billing.dlq", { "x-queue-type": "stream" })],
  });
  expect(adopted.unsaid.filter(({ place }) => place === "billing.dlq").map(({ fact }) => fact)).toEqual([
    "it is a stream, and keeps its letters: read them with a client of streams, because redeliver dead does not",
  ]);
  expect(said(adopted).filter((line) => line.includes("billing.dlq") && /redrive|DELETE/.test(line))).toEqual([]);
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

const waitingFor = (name: string, delayMs = 60_000): object =>
  queue(`${name}.delay`, { ...quorum, ...waiting(delayMs, "", name) });
const alternate = (name: string, to: string): object => ({
  ...(exchange(name, "direct") as object),
  arguments: { "alternate-exchange": to },
});

test("programs may publish to an exchange before the one that the waiting queue is bound to", () => {
  const later = { ...binding("cmds", "later", "later.#"), destination_type: "exchange" };
  const adopted = adopt({
    exchanges: [exchange("cmds", "topic"), exchange("later", "fanout")],
    queues: [bare("w"), waitingFor("w")],
    bindings: [binding("cmds", "w", "now.#"), later, binding("later", "w.delay")],
  });
  expect(said(adopted)).toContain(
    "2. when w.delay is empty, and no program publishes to later, or to cmds with later.# any more, send:",
  );
});

test("a waiting queue that nothing leads into gets its messages by its name", () => {
  const adopted = adopt({
    exchanges: [exchange("orders", "topic")],
    queues: [bare("w"), waitingFor("w")],
    bindings: [binding("orders", "w", "#")],
  });
  expect(said(adopted)).toContain(
    "2. when w.delay is empty, and no program publishes to w.delay by its name any more, send:",
  );
});

test("messages come by an alternate exchange, although no program publishes there", () => {
  const wait = adopt({
    exchanges: [alternate("cmds", "later"), exchange("later", "fanout")],
    queues: [bare("w"), waitingFor("w")],
    bindings: [binding("cmds", "w", "now"), binding("later", "w.delay")],
  });
  expect(wait.imports.stays).toMatchObject([{ remove: [] }]);
  expect(said(wait)).toContain(
    "2. leave w.delay as long as the messages of cmds that have no other route come into it",
  );
  const dead = adopt({
    exchanges: [alternate("orders", "lost"), exchange("lost", "fanout")],
    queues: [bare("billing"), bare("billing_error")],
    bindings: [binding("orders", "billing", "a"), binding("lost", "billing_error")],
  });
  expect(dead.imports.stays).toMatchObject([{ oldWays: { ends: [], staying: [{ source: "lost" }] } }]);
});

test.each([
  ["a producer", exchange("orders", "topic"), binding("orders", "billing.dlq", "order.invalid")],
  ["an alternate exchange", alternate("orders", "dlx"), binding("dlx", "billing.dlq")],
])("a dead queue that %s fills as well is not deleted, and its letters have to name their queue", (_, source, way) => {
  const adopted = adopt({
    exchanges: [source, exchange("dlx", "fanout")],
    queues: [queue("billing", { ...quorum, "x-dead-letter-exchange": "dlx" }), queue("billing.dlq")],
    bindings: [binding("orders", "billing", "order.placed"), binding("dlx", "billing.dlq"), way],
  });
  expect(adopted.imports.moves).toMatchObject([{ letters: { isShared: true } }]);
  expect(said(adopted).join("\n")).toContain(" --queue billing.dlq --failed-in billing --url ");
  expect(said(adopted).filter((line) => line.includes("/billing.dlq"))).toEqual([]);
});

test("in the middle of a move the sources are those of the new queue", () => {
  const before = {
    exchanges: [exchange("orders", "topic")],
    queues: [queue("billing", { ...quorum, ...dyingTo("billing.dlq") }), queue("billing.dlq")],
    bindings: [binding("orders", "billing", "order.placed")],
  };
  const moved = adopting({ kind: "adopt", text: exported(before) }, "rabbitmq@4.3", "shop");
  const first = moved.ok ? moved.value : expect.unreachable();
  const renamed = {
    ...first.draft.system,
    consumers: Object.fromEntries(
      Object.entries(first.draft.system.consumers).map(([name, own]) => [name, { ...own, queue: "billing.2" }]),
    ),
  };
  const compiled = accepted(compile(checked(renamed), { broker: "rabbitmq", version: "4.3" }));
  const made = brokers.rabbitmq.exportFormats["definitions"]?.(
    compiled as CompiledSystem<"rabbitmq">,
    "/",
  ) as Required<Parts>;
  const between = {
    ...made,
    // The deployment bound the new queue, and a request has unbound the old one.
    exchanges: [...before.exchanges, ...made.exchanges],
    queues: [...before.queues, ...made.queues],
  };
  const again = adopting({ kind: "adopt", text: exported(between), queues: ["billing"] }, "rabbitmq@4.3", "shop");
  const second = again.ok ? again.value : expect.unreachable();
  expect(second.draft.system.consumers).toMatchObject({ billing: { from: { orders: ["order.placed"] } } });
  expect(second.imports.moves).toMatchObject([{ next: "billing.2" }]);
  expect(said(second).filter((line) => line.includes("let the producers send"))).toEqual([]);
  // The queue of another system is no successor.
  const other = adopting({ kind: "adopt", text: exported(between), queues: ["billing"] }, "rabbitmq@4.3", "store");
  expect(other.ok && other.value.imports.moves).toMatchObject([{ next: "billing.3" }]);
});

test("messages of a shared waiting queue that come back to the new queue keep no old one", () => {
  const adopted = adopt({
    exchanges: [exchange("ev", "topic")],
    queues: [
      queue("a", { ...quorum, ...dyingTo("a.wait") }),
      queue("a.wait", { ...waiting(5_000, "ev", "retry.a") }),
      bare("aud"),
    ],
    bindings: [binding("ev", "a", "o.#"), binding("ev", "a", "retry.a"), binding("ev", "aud", "#")],
  });
  expect(adopted.imports.moves).toMatchObject([{ queue: "a", remove: ["DELETE /api/queues/%2F/a"] }]);
});

test("letters of several consumers that no command can choose go to a queue of their own first", () => {
  const limited = { ...quorum, "x-delivery-limit": 5 };
  const adopted = adopt({
    exchanges: [exchange("orders", "topic")],
    queues: [consumed("billing", "dead"), consumed("mail", "dead"), queue("dead", limited)],
    bindings: [binding("orders", "billing", "order.placed"), binding("orders", "mail", "order.placed")],
  });
  const lines = said(adopted).join("\n");
  for (const name of ["billing", "mail"])
    expect(lines).toContain(
      `It has letters of others. Move all of them by a shovel to a new queue without a limit, and send those of ${name} from there`,
    );
  expect(lines).not.toMatch(/Move its letters/);
});
