import { expect, test } from "vitest";

import { compileAndProve } from "../../src/index.ts";
import { type DeadQueue, declaredQueue } from "../../src/dead-letters/dead-queue.ts";
import { checkNamed } from "../../src/dead-letters/redrive.ts";
import { operating } from "../../src/brokers/rabbitmq/operate/index.ts";
import { judgeQueue } from "../../src/brokers/rabbitmq/operate/judge-queue.ts";
import { factsOf } from "../../src/operate/facts.ts";
import { type FilterInput, parseFilter } from "../../src/operate/filter.ts";
import { createGrouping, groupIdOf } from "../../src/operate/groups.ts";
import { historyHeader, historyWith } from "../../src/operate/history.ts";
import { type Letter, lossIn } from "../../src/operate/letter.ts";
import { fateOf, stepsOf } from "../../src/operate/redrive.ts";
import { deadQueue, parkingShop } from "../support/dead-stage.ts";
import { accepted, checked } from "../support/examples.ts";

const seconds = Date.parse("2026-03-01T08:00:00Z") / 1_000;

const letter: Letter = {
  position: 3,
  exchange: "shop.dead",
  routingKey: "shop.billing",
  redelivered: false,
  properties: { messageId: "m1", type: "OrderPlaced" },
  headers: {
    tenant: "acme",
    count: 7,
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "x-death": [
      { queue: "shop.billing", reason: "rejected", time: { "!": "timestamp", value: seconds }, "routing-keys": ["a"] },
      { queue: "shop.wait", reason: "expired", time: { "!": "timestamp", value: 5 }, "routing-keys": ["order.placed"] },
    ],
  },
  body: Buffer.from('{"order":{"id":17,"lines":[{"sku":"A1"}]}}'),
};
const described = {
  "dlq-original-queue": "shop.billing",
  "dlq-failure-reason": "PERMANENT_FAILURE",
  "dlq-exception-stack-trace-summary": "ValidationError: order 17 has no address\n    at handle (a.js:1:1)",
  "dlq-failing-consumer-info": "service=billing, version=1.8.2",
};
const facts = factsOf(letter, described);
const nowMs = Date.parse("2026-03-01T10:00:00Z");

test("the facts of a letter are those of its consumer, its broker and its publisher", () => {
  expect(facts).toEqual({
    position: 3,
    messageId: "m1",
    reason: "PERMANENT_FAILURE",
    error: "ValidationError: order 17 has no address",
    type: "OrderPlaced",
    diedAt: "2026-03-01T08:00:00.000Z",
    queue: "shop.billing",
    consumer: "service=billing, version=1.8.2",
    attempts: null,
    correlationId: null,
    traceId: "0af7651916cd43dd8448eb211c80319c",
    routingKey: "order.placed",
    generation: 0,
    redrive: null,
  });
});

const fitting: readonly FilterInput[] = [
  {},
  { group: groupIdOf(facts) },
  { reason: "PERMANENT_FAILURE" },
  { error: "NO ADDRESS" },
  { type: "OrderPlaced" },
  { failedIn: "shop.billing" },
  { failedIn: "billing" },
  { from: "2026-03-01T08:00:00Z" },
  { from: "2h" },
  { to: "119m" },
  { from: "2026-03-01", to: "2026-03-02" },
  { routingKey: "order.*" },
  { header: ["tenant"] },
  { header: ["tenant=acme", "count=7"] },
  { body: ["order.id=17"] },
  { body: ["order.lines.0.sku=A1", "order.lines.0"] },
  { generation: "0" },
];
const failing: readonly FilterInput[] = [
  { group: "00000000" },
  { reason: "permanent_failure" },
  { error: "handle (a.js" },
  { type: "Order" },
  { failedIn: "bill" },
  { from: "119m" },
  { to: "2h" },
  { routingKey: "order" },
  { header: ["tenant=acme", "count=8"] },
  { header: ["toString"] },
  { body: ["order.id=18"] },
  { body: ["order.constructor"] },
  { generation: "1" },
  { redrive: "r1" },
  { reason: "PERMANENT_FAILURE", type: "Order" },
];

test.each([...fitting.map((input) => [input, true] as const), ...failing.map((input) => [input, false] as const)])(
  "the filter %o fits: %s",
  (input, fits) => {
    const filter = parseFilter(input, nowMs);
    if ("problem" in filter) throw new Error(filter.problem);
    expect(filter.matches(letter, facts)).toBe(fits);
    expect(filter.isAll).toBe(Object.keys(input).length === 0);
  },
);

test("a body that is no JSON, and a letter without a time, fit no filter for these", () => {
  const body = parseFilter({ body: ["order.id"] }, nowMs);
  const from = parseFilter({ from: "1000d" }, nowMs);
  if ("problem" in body || "problem" in from) throw new Error("no filter");
  expect(body.matches({ ...letter, body: Buffer.from("<xml/>") }, facts)).toBe(false);
  expect(from.matches(letter, { ...facts, diedAt: null })).toBe(false);
});

test.each<FilterInput>([
  { from: "yesterday" },
  { from: "2026-03-01T08:00" },
  { to: "2h30m" },
  { from: "1h", to: "2h" },
  { generation: "-1" },
  { header: ["=x"] },
  { body: ["=x"] },
])("%o is no filter", (input) => {
  expect(parseFilter(input, nowMs)).toHaveProperty("problem", expect.any(String));
});

test("letters of one cause are one group, whatever numbers and ids their errors name", () => {
  const grouping = createGrouping();
  const errors = [
    "ValidationError: order 17 has no address",
    "ValidationError: order 2991 has no address",
    "Timeout: 1f0c2f3e-52a8-4a39-9a4e-1c2f3e52a84a",
    "Timeout: 00000000-0000-0000-0000-00000000000f",
    "Timeout: deadbeef01234567",
    "A decade of feedback",
  ];
  for (const [index, error] of errors.entries())
    grouping.add({
      ...facts,
      error,
      position: index + 1,
      diedAt: index === 1 ? "2026-02-28T08:00:00.000Z" : facts.diedAt,
    });
  const { groups, others } = grouping.result();
  expect(others).toBe(0);
  expect(groups.map(({ error, count }) => [error, count])).toEqual([
    ["Timeout: #", 3],
    ["ValidationError: order # has no address", 2],
    ["A decade of feedback", 1],
  ]);
  expect(groups[1]).toMatchObject({
    id: groupIdOf(facts),
    firstAt: "2026-02-28T08:00:00.000Z",
    lastAt: "2026-03-01T08:00:00.000Z",
    sample: "m1",
  });
});

test("more causes than anybody reads take no more memory", () => {
  const grouping = createGrouping();
  const word = (index: number): string => index.toString(2).replaceAll("0", "x").replaceAll("1", "y");
  for (let index = 0; index < 3_000; index++) grouping.add({ ...facts, error: word(index % 1_500) });
  const { groups, others } = grouping.result();
  expect([groups.length, others]).toEqual([1_000, 1_000]);
});

test("a value that the client library has changed is a loss, and its own forms are none", () => {
  const lossOf = (value: unknown): string | null => lossIn({ ...letter, headers: { nested: [{ value }] } });
  const whole = ["text", 2 ** 53 - 1, 1.5, Infinity, null, true, Buffer.from([255]), { "!": "timestamp", value: 1 }];
  expect(whole.map(lossOf)).toEqual(whole.map(() => null));
  const changed = ["\uFFFD", 2 ** 53, { "!": "timestamp", value: 2 ** 60 }, { "!": "own" }, { "\uFFFD": 1 }];
  expect(changed.map(lossOf)).not.toContain(null);
  // A header itself may have the name that marks a type.
  expect(lossIn({ ...letter, headers: { "!": "own" } })).toBeNull();
  expect(lossIn({ ...letter, properties: { messageId: "\uFFFD" } })).not.toBeNull();
});

test("the history header survives, and a header of others is no history", () => {
  const added = {
    redrive: "r1",
    at: "2026-03-01T09:00:00.000Z",
    reason: "EXPIRED",
    routingKey: "order.placed",
    position: 3,
    letter: "1f",
  };
  const again = { ...letter, headers: { [historyHeader]: historyWith(letter, added) } };
  expect(factsOf(again, {})).toMatchObject({ generation: 1, redrive: "r1" });
  for (const other of ["[1]", "{}", '[{"generation":-1,"redrive":"a","at":"b"}]', 7])
    expect(factsOf({ ...letter, headers: { [historyHeader]: other } }, {})).toMatchObject({ generation: 0 });
});

const limits: readonly (readonly [version: string, argument: unknown, policy: unknown, isRefused: boolean])[] = [
  ["4.3.6", -1, undefined, false],
  ["4.0.5", undefined, -1, false],
  ["4.0.5", -1, -1, false],
  ["3.10.8", undefined, undefined, false],
  ["4.3.6", undefined, undefined, true],
  ["4.3.6", -1, 20, true],
  ["4.3.6", 20, -1, true],
  ["4.0.5", "-1", undefined, true],
  ["4.0.5", 0, undefined, true],
  ["3.13.7", -1, undefined, true],
  ["3.10.8", undefined, 100, true],
  ["unknown", -1, undefined, true],
];

test.each(limits)(
  "on %s with the argument %o and the policy %o a look is refused: %s",
  (version, argument, policy, is) => {
    const given = argument === undefined ? [] : { "x-delivery-limit": argument };
    const definition = policy === undefined ? [] : { "delivery-limit": policy };
    const queue = { type: "quorum", arguments: given, effective_policy_definition: definition };
    expect(judgeQueue("q", version, queue)?.code).toBe(is ? "RD841" : undefined);
    expect(judgeQueue("q", version, { type: "quorum", arguments: given })?.code).toBe("RD841");
    expect(judgeQueue("q", version, { ...queue, type: "classic" })).toBeNull();
    expect(judgeQueue("q", version, { ...queue, type: "stream" })?.code).toBe("RD841");
    expect(judgeQueue("q", version, null)?.code).toBe("RD841");
  },
);

test("the steps of a redrive grow tenfold, and their sum is the number of letters", () => {
  const stepsFor = (letters: number): string => stepsOf(letters, 1).join(" + ");
  expect([0, 1, 5, 11].map(stepsFor)).toEqual(["", "1", "1 + 4", "1 + 10"]);
  expect([312, 11_112].map(stepsFor)).toEqual(["1 + 10 + 100 + 201", "1 + 10 + 100 + 1000 + 10000 + 1"]);
});

test("a redrive leaves letters that it may not send, each with its reason", () => {
  const all = parseFilter({}, nowMs);
  const others = parseFilter({ type: "Other" }, nowMs);
  if ("problem" in all || "problem" in others) throw new Error("no filter");
  const targets = new Set(["shop.billing"]);
  const { unsendable } = operating;
  const rules = { filter: all, generations: 3, targets, workQueue: "shop.billing", others: null, unsendable };
  const withHeader = (name: string, value: unknown): Letter => ({ ...letter, headers: { [name]: value } });
  expect([
    fateOf(letter, facts, rules),
    fateOf(letter, { ...facts, queue: null }, rules),
    fateOf(letter, facts, { ...rules, filter: others }),
    fateOf(letter, { ...facts, generation: 3 }, rules),
    fateOf(withHeader("x-opt-own", 1), facts, rules),
    fateOf({ ...letter, properties: { type: "amqp-1.0" } }, facts, rules),
    fateOf(withHeader("key", 2 ** 60), facts, rules),
    fateOf(letter, { ...facts, queue: "shop.audit" }, rules),
    fateOf(letter, { ...facts, queue: null }, { ...rules, targets: null, workQueue: null }),
    fateOf(letter, { ...facts, queue: "billing" }, { ...rules, others: new Set(["shop.audit"]) }),
    fateOf(letter, { ...facts, queue: "shop.audit" }, { ...rules, others: new Set(["shop.audit"]) }),
  ]).toEqual([
    "sent",
    "sent",
    "not chosen",
    "sent too often",
    "by AMQP 1.0",
    "by AMQP 1.0",
    "not whole",
    "from another queue",
    "from another queue",
    "sent",
    "from another queue",
  ]);
});

test("letters of an earlier queue go to the present one if a person names their dead queue, or has parked them", () => {
  const proved = accepted(compileAndProve(checked(parkingShop), { broker: "rabbitmq", version: "4.3" }));
  const othersIn = (isParked: boolean, earlier?: string) => declaredQueue(proved, "billing", isParked, earlier).others;
  const audit = new Set(["shop.audit"]);
  expect([othersIn(false), othersIn(true), othersIn(false, "old.dlq"), othersIn(false, deadQueue)]).toEqual([
    null,
    audit,
    audit,
    audit,
  ]);
  for (const queue of ["shop.billing", "shop.billing.parked", "shop.audit", "shop.audit.dead"])
    expect(() => othersIn(false, queue), queue).toThrow("leave out --queue");
});

test("letters of one earlier queue go to the present one, and those of several need a choice", () => {
  const proved = accepted(compileAndProve(checked(parkingShop), { broker: "rabbitmq", version: "4.3" }));
  const checking = (earlier: string, names: readonly (string | null)[]) => () => {
    const found = declaredQueue(proved, "billing", false, earlier) as unknown as DeadQueue;
    checkNamed(found, new Set(names));
  };
  expect(checking("old.dlq", ["old", null])).not.toThrow();
  expect(checking("old.dlq", ["shop.billing", null])).not.toThrow();
  // Its own dead queue has letters of its present work queue as well.
  expect(checking(deadQueue, ["shop.billing", "old", null])).not.toThrow();
  // Another consumer may have had one of these two.
  expect(checking("old.dlq", ["shop.billing", "old"])).toThrow("choose those of one queue with --failed-in");
  expect(checking(deadQueue, ["older", "old"])).toThrow("older, old, and all would go to billing");
});
