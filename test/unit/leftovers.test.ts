import { expect, test } from "vitest";

import { brokers, compile, type CompiledSystem, type TargetInput } from "../../src/index.ts";
import { accepted, checked } from "../support/examples.ts";
import { binding, queue } from "../support/known-topologies.ts";
import { listingOf } from "../support/sqs-listing.ts";
import { strategiesOn } from "../support/strategies.ts";

const consumer = {
  from: { orders: ["order.placed"] },
  retry: { attempts: 3, backoff: { kind: "constant", delay: "10s" } },
  handlerTimeout: "30s",
};
const shop = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: consumer, mail: consumer } };
const without = (system: typeof shop): object => ({ ...system, consumers: { billing: system.consumers.billing } });
const templates = { queue: "q-{consumer}", dead: "dlq-{consumer}", source: "events-{source}" };

function compiledOf<Name extends TargetInput["broker"]>(
  input: object,
  target: Extract<TargetInput, { readonly broker: Name }>,
): CompiledSystem<Name> {
  const compiled = accepted(compile(checked(input), target as TargetInput));
  return compiled as CompiledSystem<Name>;
}

type Rabbitmq = CompiledSystem<"rabbitmq">;
type Definitions = Readonly<Record<"queues" | "exchanges" | "bindings" | "policies", readonly object[]>>;
const empty: Definitions = { queues: [], exchanges: [], bindings: [], policies: [] };

function rabbitmqOf(strategy: string): (input: object) => Rabbitmq {
  const protocol = strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1";
  const speaking = (input: object): object => {
    const { consumers } = input as typeof shop;
    return {
      ...input,
      consumers: Object.fromEntries(Object.entries(consumers).map(([name, each]) => [name, { ...each, protocol }])),
    };
  };
  return (input) =>
    compiledOf(speaking(input), { broker: "rabbitmq", version: "4.3", strategy } as TargetInput<"rabbitmq">);
}

/** The leftovers on a broker that has all of these systems. */
function leftOn(
  deployed: readonly Rabbitmq[],
  now: Rabbitmq,
  more: Definitions = empty,
  earlier?: readonly Rabbitmq[],
  others?: readonly Rabbitmq[],
) {
  const files = deployed.map((each) => brokers.rabbitmq.exportFormats["definitions"]?.(each, "/") as Definitions);
  const all = (kind: keyof Definitions): readonly object[] => [...files, more].flatMap((file) => file[kind]);
  const merged = Object.fromEntries((Object.keys(empty) as (keyof Definitions)[]).map((kind) => [kind, all(kind)]));
  const read = accepted(brokers.rabbitmq.auditor.file.read(JSON.stringify({ ...files[0], ...merged })));
  return brokers.rabbitmq.auditor.leftoversIn(read, now, earlier, others);
}

const queuesOf = (found: ReturnType<typeof leftOn>): readonly string[] =>
  found.flatMap(({ kind, name, holds }) => (kind === "queue" ? [`${holds} ${name}`] : []));

const strategies = strategiesOn("4.3");

test.for(
  strategies.flatMap((strategy) => [
    [strategy, "templates", { ...shop, names: templates }, ["work q-mail", "dead dlq-mail"]],
    [strategy, "a queue's name", withQueue("legacy"), ["work legacy", "dead legacy.dead"]],
    [strategy, "another ending", withQueue("shop.walking.dead"), ["work shop.walking.dead", "dead shop.lost.mail"]],
  ]) as readonly (readonly [string, string, typeof shop, readonly string[]])[],
)("%s with %s: queues are found by their place in the system, and their kind, too", ([strategy, , before, wanted]) => {
  const compiled = rabbitmqOf(strategy);
  const system =
    wanted[1]?.includes("lost") === true ? { ...before, names: { dead: "{system}.lost.{consumer}" } } : before;
  const [old, now] = [compiled(system), compiled(without(system))];
  expect(leftOn([old], old)).toEqual([]);
  const found = leftOn([old], now);
  expect(queuesOf(found)).toEqual(wanted);
  // A way in comes first, and the exchange that the queue dead-letters to comes last.
  expect(found.map(({ kind }) => kind).join(" ")).toMatch(/^binding queue queue( exchange)?$/);
  const gone = old.topology.exchanges.filter(({ name }) => now.topology.exchanges.every((each) => each.name !== name));
  expect(found.flatMap(({ kind, name }) => (kind === "exchange" ? [name] : []))).toEqual(gone.map(({ name }) => name));
});

function withQueue(queue: string): typeof shop {
  return { ...shop, consumers: { billing: consumer, mail: { ...consumer, queue } as typeof consumer } };
}

test.for(strategies)("%s: queues of another system are no leftovers, even with this system's prefix", (strategy) => {
  const compiled = rabbitmqOf(strategy);
  const now = compiled({ ...without(shop), names: { queue: "q-{consumer}" } });
  const theirs = compiled({
    ...shop,
    name: "warehouse",
    consumers: { one: { ...consumer, queue: "shop.legacy" }, two: { ...consumer, queue: "q-two" } },
  });
  expect(leftOn([now, theirs], now)).toEqual([]);
  expect(leftOn([now, theirs], theirs)).toEqual([]);
  const tap = {
    ...empty,
    queues: [queue("q-tap", { "x-queue-type": "quorum", "x-overflow": "reject-publish" })],
    bindings: [binding("shop.dead", "q-tap", "q-billing")],
  };
  expect(leftOn([now], now, tap)).toEqual([]);
});

test.for(strategies)("%s: a dead queue is found after its work queue is deleted", (strategy) => {
  const compiled = rabbitmqOf(strategy);
  const old = compiled({ ...shop, names: templates });
  const now = compiled(without({ ...shop, names: templates } as typeof shop));
  const { topology } = old;
  const cut: Rabbitmq = {
    ...old,
    topology: {
      ...topology,
      queues: topology.queues.filter(({ name }) => name !== "q-mail"),
      bindings: topology.bindings.filter(({ destination }) => destination !== "q-mail"),
    },
  };
  expect(queuesOf(leftOn([cut], now))).toEqual(["dead dlq-mail"]);
});

const sqs = { broker: "sqs", region: "eu-west-1" } as const;

test.for(strategies)("resources of other systems are left out, with the ways into their queues: %s", (strategy) => {
  const compiled = rabbitmqOf(strategy);
  const environment = (name: string): object => ({
    ...shop,
    names: { queue: `${name}-{consumer}`, source: `${name}-{source}` },
  });
  const pairs = [
    // Two environments share exchanges and waiting queues, and the name of one system begins with that of the other.
    [compiled(environment("dev")), compiled(environment("stage"))],
    [compiled(shop), compiled({ ...shop, name: "shop.eu" })],
  ] as const;
  for (const [now, other] of pairs) {
    expect(leftOn([now, other], now, empty, [], [other])).toEqual([]);
    // What is left of the own system is still there.
    const fewer = compiled({
      ...without(shop),
      names: now === pairs[0][0] ? { queue: "dev-{consumer}", source: "dev-{source}" } : {},
    });
    const queues = queuesOf(leftOn([now, other], fewer, empty, [], [other]));
    expect(queues).toEqual(queuesOf(leftOn([now], fewer)));
    expect(queues.some((each) => /^work .*mail$/.test(each))).toBe(true);
  }
  const [[dev, stage]] = pairs;
  // Without the other one its work queues are in the list.
  expect(queuesOf(leftOn([dev, stage], dev))).toContain("work stage-billing");
});

/** The leftovers in an account that has one system. */
function leftOnSqs(deployed: CompiledSystem<"sqs">, now: CompiledSystem<"sqs">, ...more: CompiledSystem<"sqs">[][]) {
  const { file, leftoversIn } = brokers.sqs.auditor;
  const listing = accepted(file.read(JSON.stringify(listingOf(deployed.topology))));
  return leftoversIn(listing, now, ...more).map(({ name, holds }) => `${holds} ${name}`);
}

test("an earlier declaration names queues that nothing else tells", () => {
  const old = { ...shop, names: { ...templates, dead: "{queue}-lost" } };
  const [before, after] = [compiledOf(old, sqs), compiledOf(without(old), sqs)];
  expect(leftOnSqs(before, after)).toEqual([]);
  expect(leftOnSqs(before, after, [before])).toEqual(["work q-mail", "dead q-mail-lost", "dead q-mail-undelivered"]);
  expect(leftOnSqs(before, before, [before])).toEqual([]);
  expect(leftOnSqs(before, after, [before], [before])).toEqual([]);
  // The same for a system that had another name.
  const compiled = rabbitmqOf("staged");
  const store = compiled({ ...shop, name: "store" });
  const now = compiled(shop);
  expect(leftOn([now, store], now)).toEqual([]);
  expect(queuesOf(leftOn([now, store], now, empty, [store])).toSorted()).toEqual(
    store.topology.queues
      .map(({ name, role }) => `${role === "work" ? role : role === "tier" ? "waiting" : "dead"} ${name}`)
      .toSorted(),
  );
});

test("on SQS a queue with a redrive policy is a work queue, with any name", () => {
  const names = { queue: "{system}-{consumer}-dead", dead: "{system}-lost-{consumer}" };
  const named = { ...shop, names };
  const [before, after] = [compiledOf(named, sqs), compiledOf(without(named), sqs)];
  const wanted = ["work shop-mail-dead", "dead shop-lost-mail", "dead shop-mail-dead-undelivered"];
  expect(leftOnSqs(before, after)).toEqual(wanted);
});

test("on Service Bus a queue that forwards its dead letters is a tier, with any name", () => {
  const target = { broker: "servicebus", sku: "standard", strategy: "ttl-tier" } as const;
  const names = { queue: "{system}.wait.{consumer}" };
  const named = { ...shop, names };
  const [before, after] = [compiledOf(named, target), compiledOf(without(named), target)];
  const { queues } = before.topology;
  // The compiled resources have the fields of an audited one that decide here.
  const entities = queues.map((queue) => ({ ...queue, topic: null }));
  const deployment = { namespaces: [{ name: "bus", tier: "standard", entities, topics: [], isWhole: true }] };
  const { leftoversIn } = brokers.servicebus.auditor;
  const found = leftoversIn(deployment as unknown as Parameters<typeof leftoversIn>[0], after);
  expect(found.map(({ name, holds }) => `${holds} ${name}`).toSorted()).toEqual([
    "waiting shop.wait.mail.wait.10s",
    "work shop.wait.mail",
  ]);
});
