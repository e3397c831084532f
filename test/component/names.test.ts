import { expect, test } from "vitest";

import { compareChange } from "../../src/migrate/compare-change.ts";
import { takenAfter } from "../../src/migrate/taken-sources.ts";
import { refuseChange } from "../../src/migrate/refuse-change.ts";
import { readDeployed } from "../../src/migrate/deployed.ts";
import {
  brokers,
  checkSystem,
  compile,
  type CompiledSystem,
  type TargetInput,
  type Topology,
} from "../../src/index.ts";
import { accepted, checked } from "../support/examples.ts";
import { register, resourcesOf } from "../support/pulumi.ts";

const billing = {
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "constant", delay: "1s" } },
  handlerTimeout: "10s",
} as const;
const shop = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing } };
const inOrder = { order: "per-key", retry: { attempts: 2, backoff: { kind: "immediate" } } };
const targets = {
  rabbitmq: { broker: "rabbitmq", version: "4.3", strategy: "staged" },
  sqs: { broker: "sqs", region: "eu-west-1" },
  servicebus: { broker: "servicebus", sku: "standard" },
} as const satisfies Record<string, TargetInput>;

/** The names of queues, and of exchanges or topics that are sources. */
function namesOf(input: object, target: TargetInput): readonly string[] {
  const compiled = compile(checked(input), target);
  if (!compiled.ok) return compiled.diagnostics.map(({ code, path, message }) => `${code} ${path}: ${message}`);
  const {
    queues,
    topics = [],
    exchanges = [],
  } = compiled.value.topology as Partial<
    Record<"queues" | "topics" | "exchanges", readonly { readonly name: string; readonly role?: string }[]>
  >;
  const sources = [...topics, ...exchanges.filter(({ role }) => role === "source")];
  return [...(queues ?? []), ...sources].map(({ name }) => name);
}

test.for([
  ["rabbitmq", ["orders-billing.dead", "shop.undeliverable", "shop.attempt.2.1s", "orders-billing", "shop.orders"]],
  ["sqs", ["orders-billing-dead", "orders-billing-undelivered", "orders-billing", "shop-orders"]],
  ["servicebus", ["orders-billing", "shop.orders"]],
] as const)("a consumer's queue has the declared name on %s", ([broker, names]) => {
  const own = { ...shop, consumers: { billing: { ...billing, queue: "orders-billing" } } };
  expect(namesOf(own, targets[broker])).toEqual(names);
});

test.for([
  ["rabbitmq", ["dlq-q-billing", "shop.undeliverable", "shop.attempt.2.1s", "q-billing", "orders-of-shop"]],
  ["sqs", ["dlq-q-billing", "q-billing-undelivered", "q-billing", "orders-of-shop"]],
] as const)("templates name queues and sources on %s", ([broker, expected]) => {
  const names = { queue: "q-{consumer}", dead: "dlq-{queue}", source: "{source}-of-{system}" };
  expect(namesOf({ ...shop, names }, targets[broker])).toEqual(expected);
});

test("a template begins the names of all that consumers share, and the permissions cover them", () => {
  for (const strategy of ["native", "staged", "waits"] as const) {
    const target = { ...targets.rabbitmq, strategy };
    const namesWith = (names: object): readonly string[] => {
      const compiled = accepted(compile(checked({ ...shop, names }), target));
      const { queues, exchanges, policies } = compiled.topology as Topology;
      return [...queues, ...exchanges, ...policies].map(({ name }) => name);
    };
    const own = new Set(["shop.orders", "shop.billing", "shop.billing.dead", "shop.billing.failed"]);
    expect(namesWith({ shared: "retries-of-{system}" })).toEqual(
      namesWith({}).map((name) => (own.has(name) ? name : name.replace(/^shop/, "retries-of-shop"))),
    );
  }
});

test.for([
  ["rabbitmq", "amq.retries", "RD204 names.shared: names that start with amq. are the broker's own"],
  ["rabbitmq", "retries/{system}", 'RD204 names.shared: the name "retries/shop" has a / in it'],
  ["sqs", "retries", "RD204 names.shared: consumers on Amazon SQS share no queues or topics but sources"],
  ["servicebus", "retries", "RD204 names.shared: consumers on Service Bus share no queues or topics but sources"],
] as const)("on %s the template %s is refused", ([broker, shared, problem]) => {
  expect(namesOf({ ...shop, names: { shared } }, targets[broker])).toContain(problem);
});

test.for([
  ["rabbitmq", {}, "legacy.failures", ["shop.billing", "legacy.failures"]],
  ["sqs", {}, "legacy-failures", ["shop-billing", "legacy-failures"]],
  ["sqs", inOrder, "legacy-failures", ["shop-billing.fifo", "legacy-failures.fifo"]],
] as const)("a dead queue has the declared name on %s with %j", ([broker, more, queue, expected]) => {
  const names = { dead: "{queue}-dlq" };
  const consumers = { billing: { ...billing, ...more, deadLetter: { queue } } };
  const found = namesOf({ ...shop, names, consumers }, targets[broker]);
  expect(found).toEqual(expect.arrayContaining([...expected]));
  expect(found.filter((name) => name.includes("dlq") || name.endsWith("dead"))).toEqual([]);
});

const everywhere = ["rabbitmq", "sqs", "servicebus"] as const;
const two = { billing, mail: billing };
const twoSources = { sources: { orders: { kind: "topic" }, sales: { kind: "topic" } } };
/** The consumer billing with a queue of this name. */
const queue = (name: string, more: object = {}): object => ({
  consumers: { billing: { ...billing, queue: name, ...more } },
});

test.for<readonly [string, object, readonly (keyof typeof targets)[], RegExp]>([
  [
    "one queue for two",
    { names: { queue: "{system}" }, consumers: two },
    everywhere,
    /^RD205 names\.queue: "shop" would be the work queue of billing and the work queue of mail/,
  ],
  [
    "one dead queue for two",
    { names: { dead: "lost" }, consumers: two },
    ["rabbitmq", "sqs"],
    /^RD205 .*"lost" would be the dead queue/,
  ],
  ["one source for two", { names: { source: "events" }, ...twoSources }, everywhere, /^RD205 .*"events" would be/],
  ["a queue of the strategy's", queue("shop.undeliverable"), ["rabbitmq"], /^RD205 .*"shop\.undeliverable" would be/],
  ["a topic's name", queue("SHOP.orders"), ["servicebus"], /^RD205 .*would be the topic of orders/],
  ["a slash", queue("a/b"), everywhere, /^RD204 consumers\.billing\.queue: .*"?\/"?/],
  ["a slash in a template", { names: { queue: "a/{consumer}" }, consumers: two }, everywhere, /^RD204 names\.queue: /],
  ["digits", queue("42"), ["rabbitmq"], /^RD204 consumers\.billing\.queue: the name "42" is a number/],
  [
    "the broker's own prefix",
    { names: { dead: "amq.{queue}" } },
    ["rabbitmq"],
    /^RD204 names\.dead: names that start with amq\./,
  ],
  [
    "an attempt's key",
    queue("redeliver:x"),
    ["rabbitmq"],
    /^RD204 consumers\.billing\.queue: names of queues that start with redeliver:/,
  ],
  ["a long name", queue("q".repeat(69)), ["sqs"], /^RD204 consumers\.billing\.queue: .*81 characters; 80/],
  [
    "the suffix of FIFO",
    queue("q.fifo", { order: "per-key" }),
    ["sqs"],
    /^RD204 consumers\.billing\.queue: the name has "\."/,
  ],
  [
    "the broker's dead-letter queue",
    { names: { dead: "{queue}.dead" } },
    ["servicebus"],
    /^RD204 names\.dead: Service Bus itself names/,
  ],
  [
    "a slash in the name of a dead queue",
    deadQueue("a/b"),
    ["rabbitmq", "sqs"],
    /^RD204 consumers\.billing\.deadLetter\.queue: .*"?\/"?/,
  ],
  [
    "a dead queue with the broker's own prefix",
    deadQueue("amq.lost"),
    ["rabbitmq"],
    /^RD204 consumers\.billing\.deadLetter\.queue: names that start with amq\./,
  ],
  ["a long dead queue", deadQueue("q".repeat(81)), ["sqs"], /^RD204 .*deadLetter\.queue: .*81 characters; 80/],
  [
    "a name for the broker's dead-letter queue",
    deadQueue("lost"),
    ["servicebus"],
    /^RD204 consumers\.billing\.deadLetter\.queue: Service Bus itself names/,
  ],
  ["a subscription", queue("q", inOrder), ["servicebus"], /^RD204 consumers\.billing\.queue: billing has no queue/],
])("%s is refused", ([, change, on, message]) => {
  for (const broker of on) {
    const found = namesOf({ ...shop, ...change }, targets[broker]).filter((each) => !each.startsWith("RD207"));
    expect(found, broker).toEqual([expect.stringMatching(message)]);
  }
});

/** The consumer billing with a dead queue of this name. */
function deadQueue(name: string): object {
  return { consumers: { billing: { ...billing, deadLetter: { queue: name } } } };
}

const mailTo = (name: string): object => ({ mail: { ...billing, queue: name } });
const three = { ...two, more: billing };
const another = "choose another name for it";
const changeIt = "change the template, or rename one of the two";

test.for<readonly [string, object, readonly (keyof typeof targets)[], string]>([
  [
    "a queue's name that another consumer has by default",
    { consumers: { billing, ...mailTo("shop-billing") } },
    ["sqs"],
    `consumers.mail.queue: ${another}`,
  ],
  [
    "the same, before the other consumer",
    { consumers: { ...mailTo("shop.billing"), billing } },
    ["rabbitmq", "servicebus"],
    `consumers.mail.queue: ${another}`,
  ],
  [
    "a queue's name that is another's dead queue",
    { consumers: { billing, ...mailTo("shop.billing.dead") } },
    ["rabbitmq"],
    `consumers.mail.queue: ${another}`,
  ],
  [
    "a dead queue's name that is the work queue's",
    deadQueue("shop.billing"),
    ["rabbitmq"],
    `consumers.billing.deadLetter.queue: ${another}`,
  ],
  [
    "a dead queue's name that another consumer's queue has",
    { consumers: { billing: { ...billing, deadLetter: { queue: "shop-mail" } }, mail: billing } },
    ["sqs"],
    `consumers.billing.deadLetter.queue: ${another}`,
  ],
  [
    "a queue's name that the strategy has",
    queue("shop.undeliverable"),
    ["rabbitmq"],
    `consumers.billing.queue: ${another}`,
  ],
  ["a queue's name that a topic has", queue("shop.orders"), ["servicebus"], `consumers.billing.queue: ${another}`],
  [
    "a template without its placeholder",
    { names: { queue: "{system}" }, consumers: three },
    everywhere,
    "names.queue: put {consumer} into the template",
  ],
  [
    "a template for dead queues without its placeholder",
    { names: { dead: "lost" }, consumers: three },
    ["rabbitmq", "sqs"],
    "names.dead: put {queue} into the template, or deadQueue: shared into a target file",
  ],
  [
    "a template for sources without its placeholder",
    { names: { source: "events" }, ...twoSources },
    everywhere,
    "names.source: put {source} into the template",
  ],
  [
    "a template that has its placeholder",
    { names: { dead: "{queue}" } },
    ["rabbitmq", "sqs"],
    `names.dead: ${changeIt}`,
  ],
  [
    "a template that upper and lower case do not tell apart",
    { names: { queue: "{consumer}" }, consumers: { billing, Billing: billing } },
    ["servicebus"],
    `names.queue: ${changeIt}`,
  ],
  [
    "keys alone",
    { consumers: { billing, "billing.dead": billing } },
    ["rabbitmq"],
    'consumers["billing.dead"]: rename one of the two',
  ],
])("a clash is reported where a person can mend it: %s", ([, change, on, wanted]) => {
  for (const broker of on) {
    const compiled = compile(checked({ ...shop, ...change }), targets[broker]);
    const found = compiled.ok ? [] : compiled.diagnostics.filter(({ severity }) => severity === "error");
    expect(
      found.map(({ code, path, help }) => `${code} ${path}: ${help}`),
      broker,
    ).toEqual([`RD205 ${wanted}`]);
  }
});

test.for([
  [{ names: { queue: "{queue}" } }, "RD111 names.queue"],
  [{ names: { source: "{consumer}" } }, "RD111 names.source"],
  [{ names: { dead: "{dead" } }, "RD111 names.dead"],
  [{ names: { tier: "t" } }, "RD102 names.tier"],
  [{ names: { queue: "a\u200Bb" } }, "RD113 names.queue"],
  [{ consumers: { billing: { ...billing, queue: "" } } }, "RD111 consumers.billing.queue"],
  [deadQueue("a\u200Bb"), "RD113 consumers.billing.deadLetter.queue"],
  [deadQueue(""), "RD111 consumers.billing.deadLetter.queue"],
  [
    { consumers: { billing: { from: billing.from, delivery: "every-instance", queue: "q" } } },
    "RD112 consumers.billing.queue",
  ],
] as const)("%j is refused on any broker", ([change, problem]) => {
  const result = checkSystem({ ...shop, ...change });
  expect(result.ok ? [] : result.diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([problem]);
});

test("permissions, leftovers and resources have the names of the declaration", async () => {
  const declared = checked({ ...shop, names: { queue: "q-{consumer}", source: "events-{source}" } });
  const compiled = accepted(compile(declared, targets.rabbitmq));
  const { topology } = compiled;
  const { configure } = brokers.rabbitmq.permissions.toDeploy(topology);
  for (const { name } of [...topology.queues, ...topology.exchanges]) expect(name).toMatch(new RegExp(configure));
  const made = resourcesOf(await register(declared, "4.3"), "Queue").map(({ inputs }) => inputs["name"]);
  expect(made.toSorted()).toEqual(["q-billing", "q-billing.dead"]);
  const file = brokers.rabbitmq.exportFormats["definitions"]?.(compiled, "/") as { bindings: readonly object[] };
  const late = { source: "events-orders", vhost: "/", destination: "q-billing", destination_type: "queue" };
  const more = [...file.bindings, { ...late, routing_key: "late", arguments: {} }];
  const read = accepted(brokers.rabbitmq.auditor.file.read(JSON.stringify({ ...file, bindings: more })));
  expect(brokers.rabbitmq.auditor.leftoversIn(read, compiled).map(({ name }) => name)).toEqual([
    "events-orders to q-billing with the key late",
  ]);
});

type Deployed = NonNullable<ReturnType<typeof readDeployed>>;

function deployed(input: object, target: TargetInput): Deployed {
  const found = readDeployed(checked(input), target);
  if (found === null) throw new Error("refused");
  return found;
}

test("a new name for a deployed queue or source is refused", () => {
  const named = (names: object): Deployed => deployed({ ...shop, names }, targets.rabbitmq);
  const refused = (before: Deployed, after: Deployed): readonly string[] =>
    refuseChange(before, after).map(({ code, path }) => `${code} ${path}`);
  const [plain, moved] = [named({}), named({ source: "{source}" })];
  expect(refused(plain, named({ queue: "q-{consumer}" }))).toEqual(["RD302 names.queue"]);
  expect(refused(plain, moved)).toEqual(["RD303 names.source"]);
  expect(refused(moved, plain)).toEqual(["RD303 sources.orders"]);
  const lost = deployed({ ...shop, ...deadQueue("lost") }, targets.rabbitmq);
  for (const [before, after] of [
    [plain, lost],
    [lost, plain],
  ] as const)
    expect(refuseChange(before, after)).toMatchObject([
      { code: "RD302", message: expect.stringContaining("cannot be renamed in place") as string },
    ]);
  expect(refused(plain, lost)).toEqual(["RD302 consumers.billing.deadLetter.queue"]);
});

const spelled = {
  rabbitmq: { queue: "{system}.{consumer}", dead: "{queue}.dead", source: "{system}.{source}" },
  sqs: { queue: "{system}-{consumer}", dead: "{queue}-dead", source: "{system}-{source}" },
  servicebus: { queue: "{system}.{consumer}", source: "{system}.{source}" },
} as const;

test.for(everywhere)("a template that gives the very same names changes nothing on %s", (broker) => {
  const plain = deployed(shop, targets[broker]);
  const same = deployed({ ...shop, names: spelled[broker] }, targets[broker]);
  expect(refuseChange(plain, same)).toEqual([]);
  expect(refuseChange(same, plain)).toEqual([]);
  // The same holds for an update after that, which also knows the earlier sources.
  expect(takenAfter(takenAfter({}, plain), same)).toEqual(takenAfter({}, plain));
});

test("a template that renames sources of a live system is one problem, with the names to keep", () => {
  const consumers = { billing: { ...billing, from: { orders: "all", sales: "all" } }, mail: billing };
  const both = { ...shop, ...twoSources, consumers };
  const before = deployed(both, targets.sqs);
  const after = deployed({ ...both, names: { source: "events-{source}" } }, targets.sqs);
  const found = refuseChange(before, after).map(({ code, path, message, notes, help }) => ({
    place: `${code} ${path}`,
    facts: [message, ...notes].slice(0, 2),
    help,
  }));
  expect(found).toEqual([
    {
      place: "RD303 names.source",
      facts: [
        "the source orders of billing, mail cannot be renamed in place from shop-orders to events-orders",
        "the source sales of billing cannot either: from shop-sales to events-sales",
      ],
      help: expect.stringContaining('keep the name: names.source: "{system}-{source}";') as string,
    },
  ]);
  const back = refuseChange(after, before);
  expect(back.map(({ help }) => help)).toEqual([
    expect.stringContaining('keep the name: names.source: "events-{source}";') as string,
  ]);
});

test("a move to another broker ends the memory of the old one's sources", () => {
  const old = { ...shop, sources: { orders: { kind: "topic", name: "old" } } };
  const now = deployed(shop, targets.sqs);
  const kept = { inputs: { declaration: checked(old), target: targets.rabbitmq }, outputs: {} };
  const { problems, taken } = compareChange(kept, now) ?? {};
  expect(problems).toEqual([]);
  const next = { inputs: { declaration: checked(shop), target: targets.sqs }, outputs: { taken } };
  expect(compareChange(next, now)?.problems).toEqual([]);
});

test.for([
  { queue: "q-{consumer}" },
  { dead: "dlq-{consumer}" },
  { dead: "{system}.lost.{consumer}" },
  { queue: "q-{consumer}", dead: "{consumer}" },
])("consumers with names of their own share one proof: %j", (names) => {
  const consumers = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`c${index}`, billing]));
  for (const strategy of ["native", "staged", "waits"] as const) {
    const target = brokers.rabbitmq.checkTarget({ ...targets.rabbitmq, strategy });
    const compiled = compile(checked({ ...shop, names, consumers }), { ...targets.rabbitmq, strategy });
    if (!compiled.ok || !target.ok) throw new Error("refused");
    const value = compiled.value as CompiledSystem<"rabbitmq">;
    expect(new Set(brokers.rabbitmq.subjectsOf(value, target.value).map(({ shape }) => shape())).size).toBe(1);
  }
});
