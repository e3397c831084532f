import { describe, expect, test } from "vitest";

import { type CompiledSystem, brokers } from "../../src/index.ts";
import type { Adopted } from "../../src/migrate/adopt.ts";
import { renderAdoption } from "../../src/report/adoption.ts";
import { adoptedTopologies, exportOf } from "../support/adopted-topologies.ts";
import { binding, bound, deadThrough, exchange, exported, queue, waiting } from "../support/known-topologies.ts";
import { adopting, adoptText } from "../support/reported-by-adopt.ts";

// A queue without arguments stays. The printed requests end only what nothing uses after the old code has gone.

const quorum = { "x-queue-type": "quorum" };
const bare = (name: string): object => queue(name, quorum);

const policy = (name: string, pattern: string, definition: object, more: object = {}): object => {
  return { vhost: "/", name, pattern, "apply-to": "queues", priority: 1, definition, ...more };
};

function only(text: string, queues: readonly string[]): Adopted {
  const adopted = adopting({ kind: "adopt", text, queues }, "rabbitmq@4.3", "shop");
  return adopted.ok ? adopted.value : expect.unreachable();
}

const consumersOf = ({ draft }: Adopted) => draft.system.consumers as Readonly<Record<string, object>>;

describe("a dead queue with letters of a queue that is not adopted", () => {
  const parts = {
    exchanges: [exchange("orders", "topic"), exchange("dlx", "fanout")],
    bindings: [binding("orders", "billing", "a"), binding("orders", "mail", "b"), binding("dlx", "errors")],
    policies: [policy("dlx", "^(billing|mail)$", { "dead-letter-exchange": "dlx" })],
  };
  test.for([
    ["stays", bare("billing")],
    ["moves", queue("billing")],
  ] as const)("is not the consumer's, which %s, and its way stays", ([, billing]) => {
    const text = exported({ ...parts, queues: [billing, bare("mail"), bare("errors")] });
    const adopted = only(text, ["billing"]);
    expect(consumersOf(adopted)["billing"]).not.toHaveProperty("deadLetter");
    expect(adopted.unsaid.map(({ fact }) => fact)).toContainEqual(expect.stringContaining("other queues have their"));
    expect(renderAdoption(adopted, false, null)).not.toMatch(/DELETE \S+queues\S+errors/);
  });
});

test("a dead queue that cannot stay does not move its consumer, and keeps its letters", () => {
  const parts = {
    exchanges: [exchange("orders", "topic")],
    queues: [bare("billing"), queue("billing_error", { ...quorum, "x-message-ttl": 60_000 })],
    bindings: [binding("orders", "billing", "a")],
    policies: [],
  };
  const adopted = adoptText(exported(parts));
  expect(adopted.imports.moves).toEqual([]);
  expect(adopted.proved.compiled.contracts).toMatchObject([{ workQueue: "billing", deadQueue: "billing.dead" }]);
  expect(adopted.unsaid).toContainEqual({
    place: "billing_error",
    fact: "its settings cannot change, so billing gets another dead queue. The letters here stay",
  });
  // Its steps bring the letters back, and end the queue.
  const [{ letters } = { letters: null }] = adopted.imports.stays;
  expect(letters).toMatchObject({
    dead: "billing_error",
    isShared: false,
    remove: ["DELETE /api/queues/%2F/billing_error"],
  });
  const steps = renderAdoption(adopted, false, null);
  expect(steps).toContain("1. deploy, stop the old code of billing, and start the new code");
  expect(steps).toContain("2. at any time, send the letters of billing_error again. A policy first takes away");
  expect(steps).toContain(
    "npx redeliver dead redrive FILE --target rabbitmq@4.3 --consumer billing --queue billing_error --url ",
  );
  expect(steps).toMatch(/3\. when billing_error is empty.*send:\n\s+api DELETE \/api\/queues\/%2F\/billing_error\n/);
});

test("in the middle of a move, the way of the new queue into the dead queue stays", () => {
  const made = {
    exchanges: [exchange("orders", "topic"), exchange("shop.dead", "direct"), exchange("billing_error", "fanout")],
    bindings: bound(
      "orders > billing: a",
      "orders > billing.2: a",
      "billing_error > billing_error",
      "shop.dead > billing_error: billing.2",
    ),
    queues: [
      queue("billing"),
      queue("billing.2", {
        ...quorum,
        "x-overflow": "reject-publish",
        ...deadThrough("shop.dead", "billing.2"),
        "x-dead-letter-strategy": "at-least-once",
      }),
      bare("billing_error"),
    ],
    policies: [
      policy("billing.2", String.raw`^billing\.2$`, {
        overflow: "reject-publish",
        "delivery-limit": 0,
        "delayed-retry-type": "disabled",
      }),
    ],
  };
  expect(renderAdoption(only(exported(made), ["billing"]), false, null)).not.toContain("/e/shop.dead/");
});

test.for([
  ["for more queues", policy("billing", "^billing", { "dead-letter-exchange": "dlx" })],
  ["for exchanges", policy("billing", "^billing$", { "alternate-exchange": "dlx" }, { "apply-to": "exchanges" })],
  ["that outranks ours", policy("all", ".*", { "message-ttl": 1_000 }, { priority: 1_000 })],
] as const)("a queue moves if it has a policy of others %s", ([, given]) => {
  const parts = {
    exchanges: [exchange("orders", "topic"), exchange("dlx", "fanout")],
    bindings: [binding("orders", "billing", "a")],
    queues: [bare("billing")],
  };
  const movesWith = (policies: readonly object[]) => adoptText(exported({ ...parts, policies })).imports.moves.length;
  expect([movesWith([given]), movesWith([])]).toEqual([1, 0]);
});

test("the ways of delayed messages stay, and so do those that other queues send by", () => {
  const celery = adoptText(exportOf(adoptedTopologies["Celery with native delayed delivery"] ?? expect.unreachable()));
  const source = "celery_delayed_delivery";
  expect(celery.imports.stays).toMatchObject([{ oldWays: { ends: [], staying: [{ source }] } }]);
  const text = (waits: readonly string[]): string =>
    exported({
      exchanges: [exchange("orders", "topic"), exchange("back", "direct")],
      queues: ["billing", "mail"].map(bare).concat(waits.map((name) => queue(name, waiting(1_000, "back")))),
      bindings: ["billing", "mail"].flatMap((name) => [binding("orders", name, name), binding("back", name, name)]),
      policies: [],
    });
  const [shared] = adoptText(text(["wait"])).imports.stays;
  expect(shared?.oldWays).toMatchObject({ ends: [], staying: [{ source: "back" }] });
  const [unused] = adoptText(text([])).imports.stays;
  expect(unused?.oldWays).toMatchObject({ staying: [] });
});

test.for([
  ["direct", ["back", "mail"], true],
  ["direct", ["back", "billing"], false],
  // A message that keeps its keys may have any, by CC and BCC as well.
  ["direct", ["back"], false],
  ["topic", ["back", "mail.late"], true],
  ["topic", ["back", "billing.late"], false],
  ["topic", ["back"], false],
  ["fanout", ["back", "mail"], false],
  ["headers", ["back", "mail"], false],
  ["x-delayed-message", ["back", "mail"], false],
  ["direct", ["before", "mail"], false],
  ["direct", ["aside", "mail"], false],
] as const)("a way of a %s exchange ends if no message of others by %j can take it: %s", ([kind, [to, key], ends]) => {
  const own = kind === "topic" ? "billing.#" : "billing";
  const text = exported({
    exchanges: [
      exchange("orders", "topic"),
      { ...exchange("back", kind), arguments: { "x-delayed-type": "direct" } },
      exchange("before", "direct"),
      { ...exchange("aside", "direct"), arguments: { "alternate-exchange": to === "aside" ? "back" : "none" } },
    ],
    queues: [
      bare("billing"),
      queue("billing.wait", waiting(1_000, "back", "billing")),
      bare("mail"),
      queue("mail.wait", waiting(1_000, to, key)),
    ],
    bindings: bound(
      "orders > billing: a",
      "orders > mail: b",
      `back > billing: ${own}`,
      `back > mail: ${key ?? "mail"}`,
      ...(to === "before" ? ["before >> back: mail"] : []),
    ),
    policies: [],
  });
  const stay = adoptText(text).imports.stays.find(({ queue: name }) => name === "billing");
  const { ends: ended = [], staying = [] } = stay?.oldWays ?? {};
  expect([ended, staying].map((all) => all.map(({ source }) => source))).toEqual(
    ends ? [["back"], []] : [[], ["back"]],
  );
});

test("a way ends when the waiting queue behind it is empty and no program publishes, and names its key", () => {
  const parts = {
    exchanges: [exchange("orders", "topic"), exchange("back", "direct")],
    queues: [bare("billing"), queue("billing.wait", waiting(1_000, "back", "billing"))],
    bindings: [binding("orders", "billing", "a"), binding("back", "billing", "billing")],
    policies: [],
  };
  const adopted = adoptText(exported(parts));
  const [empty, end] = [
    "when billing.wait is empty, and no program publishes to billing.wait by its name any more, send:",
    "when billing.wait is empty, and no program publishes to back with billing any more, and none binds it as it starts, send:",
  ];
  const text = renderAdoption(adopted, false, null);
  expect(text.indexOf(empty ?? "")).toBeGreaterThan(-1);
  expect(text.indexOf(end ?? "")).toBeGreaterThan(text.indexOf(empty ?? ""));
  expect(text).not.toContain("then take these out of the code");
  expect(renderAdoption(adopted, false, []).match(/then take these out of the code/g)).toHaveLength(2);
});

test("a second run prints the requests that are left, and none for the queues of the declared system", () => {
  const topology = adoptedTopologies["three waiting queues by hand"] ?? expect.unreachable();
  const first = adoptText(exportOf(topology));
  const before = JSON.parse(exportOf(topology)) as Record<string, readonly object[]>;
  const compiled = first.proved.compiled as CompiledSystem<"rabbitmq">;
  const made = brokers.rabbitmq.exportFormats["definitions"]?.(compiled, "/") as typeof before;
  const kinds = ["queues", "exchanges", "bindings", "policies"];
  const both = Object.fromEntries(kinds.map((kind) => [kind, [...(before[kind] ?? []), ...(made[kind] ?? [])]]));
  const [stay] = first.imports.stays;
  expect(stay).toMatchObject({ isDeployed: false });
  const second = adoptText(JSON.stringify({ ...before, ...both }));
  expect(second.imports.stays).toEqual([{ ...stay, isDeployed: true }]);
  expect(renderAdoption(second, false, null)).not.toContain("stop the old code");
  const done = {
    ...before,
    ...both,
    queues: both["queues"]?.filter((each) => !stay?.waits.includes((each as { name: string }).name)),
  };
  expect(adoptText(JSON.stringify(done)).imports.stays).toEqual([]);
});

test("the owner of the policy of a dead queue that stays has to give it up as well", () => {
  const { definitions } =
    adoptedTopologies["Spring AMQP with a waiting queue and a parking lot"] ?? expect.unreachable();
  const own = policy("orders.q.parkingLot", String.raw`^orders\.q\.parkingLot$`, { "delivery-limit": 1_000 });
  const { imports } = adoptText(exported({ ...definitions, policies: [own] }));
  expect(imports.present.map(({ type }) => type.split(":").at(-1))).toEqual(["Queue", "Policy"]);
});

test("a limit by a policy does not move a queue that can stay, and the facts have it", () => {
  const parts = {
    exchanges: [exchange("orders", "topic")],
    queues: [bare("billing")],
    bindings: [binding("orders", "billing", "a")],
    policies: [policy("all", ".*", { "max-length": 100, overflow: "reject-publish" })],
  };
  const adopted = adoptText(exported(parts));
  expect(adopted.imports.moves).toEqual([]);
  expect(consumersOf(adopted)["billing"]).not.toHaveProperty("queueArguments");
  expect(adopted.unsaid.map(({ fact }) => fact)).toContainEqual(expect.stringContaining("max-length is 100"));
});

test("a queue with limits by arguments stays with them, and one with a limit by a policy without it", () => {
  const limited = (more: object, definition: object) =>
    adoptText(
      exported({
        exchanges: [exchange("orders", "topic")],
        queues: [queue("billing", { ...quorum, ...more }), bare("billing.dead")],
        bindings: [binding("orders", "billing", "a")],
        policies: [policy("limits", "^billing$", { overflow: "reject-publish", ...definition })],
      }),
    );
  const own = limited({ "x-max-length": 50 }, {});
  expect(consumersOf(own)).toMatchObject({ billing: { queueSettings: "policy", queueArguments: { maxLength: 50 } } });
  expect(own.imports.moves).toEqual([]);
  // The smaller one is in force, and an argument cannot change.
  const both = limited({ "x-max-length": 50 }, { "max-length": 20 });
  expect(consumersOf(both)["billing"]).not.toHaveProperty("queueSettings");
  const byPolicy = limited({}, { "max-length": 20 });
  expect(consumersOf(byPolicy)).toMatchObject({ billing: { queueSettings: "policy" } });
  expect(consumersOf(byPolicy)["billing"]).not.toHaveProperty("queueArguments");
});

test("an old dead queue that gets copies of another consumer's letters is looked through by the queue they died in", () => {
  const policy = { "dead-letter-exchange": "dlx-billing" };
  const made = {
    exchanges: [exchange("orders", "topic"), exchange("dlx-billing", "fanout"), exchange("dlx-mail", "fanout")],
    queues: [
      queue("billing", quorum),
      queue("mail", { ...quorum, "x-dead-letter-exchange": "dlx-mail" }),
      queue("mail.dlq", quorum),
      queue("errors", { ...quorum, "x-message-ttl": 600_000 }),
    ],
    bindings: [
      binding("orders", "billing", "order.placed"),
      binding("orders", "mail", "order.placed"),
      binding("dlx-billing", "errors"),
      binding("dlx-mail", "errors"),
      binding("dlx-mail", "mail.dlq"),
    ],
    policies: [
      { vhost: "/", name: "dead", pattern: "^billing$", "apply-to": "queues", priority: 0, definition: policy },
    ],
  };
  const adopted = adoptText(exported(made));
  expect(adopted.imports.stays).toMatchObject([{ queue: "billing", letters: { dead: "errors", isShared: true } }]);
  expect(renderAdoption(adopted, false, null)).toContain(
    " --consumer billing --queue errors --failed-in billing --url ",
  );
});
