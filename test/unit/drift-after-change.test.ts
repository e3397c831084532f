import { expect, test } from "vitest";

import { afterDeployment } from "../../src/brokers/rabbitmq/compile/after-deployment.ts";
import { brokers, compileAndProve, type Proved, type Topology } from "../../src/index.ts";
import { driftBetween, driftFrom, type JudgedDifference, judgeDrift } from "../../src/migrate/judge-drift.ts";
import { accepted, checked } from "../support/examples.ts";
import { strategiesOn, type Strategy } from "../support/strategies.ts";

// A deployment leaves on the broker what messages may need. None of that is a difference to the new declaration.

const { rabbitmq } = brokers;

const retry = (attempts: number, delay = "10s", more: object = {}): object => {
  return { attempts, backoff: { kind: "constant", delay, ...more } };
};
const billing = { from: { orders: ["order.placed"] }, retry: retry(3) };
const mail = { from: { orders: ["mail.#"] }, retry: retry(4, "30s") };
const shop = { sources: { orders: { kind: "topic" } }, consumers: { billing } };
const retried = (again: object): object => ({ ...shop, consumers: { billing: { ...billing, retry: again } } });
const twoSources = {
  sources: { ...shop.sources, refunds: { kind: "topic" } },
  consumers: { billing: { ...billing, from: { ...billing.from, refunds: ["#"] } } },
};
const otherKey = { ...shop, consumers: { billing: { ...billing, from: { orders: ["order.paid"] } } } };

interface Edit {
  readonly old?: object;
  readonly next?: object;
  /** Messages that only the old declaration takes are lost. */
  readonly loses?: true;
  /** The strategies that can carry out both. */
  readonly on?: readonly Strategy[];
  /** The words for the effect of the change itself. Some strategies show none, because it is in the contract alone. */
  readonly says?: RegExp;
}

const edits: Readonly<Record<string, Edit>> = {
  "another delay": { next: retried(retry(3, "20s")), says: /^attempt 2 can come 20000 ms after/ },
  "more attempts": { next: retried(retry(5)), says: /^a message can be delivered \d+ times; \d+ are promised/ },
  "fewer attempts": { old: retried(retry(5)), says: /handled as attempt 1, 2, 3; declared is 1, 2, 3, 4, 5|crash/ },
  "one attempt": { next: retried(retry(1)), says: /is handled as attempt 1; declared is 1, 2, 3|crash/ },
  "from one attempt on": { old: retried(retry(1)), says: /^a message can be delivered \d+ times; 1 are promised/ },
  jitter: { next: retried(retry(3, "10s", { jitter: "20%" })), on: ["deferred", "waits"] },
  "no more jitter": { old: retried(retry(3, "10s", { jitter: "20%" })), on: ["deferred", "waits"] },
  "a consumer less": { old: { ...shop, consumers: { billing, mail } } },
  "a consumer more": { next: { ...shop, consumers: { billing, mail } } },
  retention: { next: { ...shop, consumers: { billing: { ...billing, deadLetter: { retain: "7d" } } } } },
  "a source more": { next: twoSources, says: /^shop\.billing gets "#" from shop\.refunds, which is not declared/ },
  "a source less": { old: twoSources, loses: true, says: /^a message is lost: the exchange has no route for it$/ },
  "another key": {
    next: otherKey,
    loses: true,
    says: /^a message is lost: the exchange has no route for it$|^shop\.billing gets "order\.paid"/,
  },
  "names of queues": { next: { ...shop, names: { queue: "q-{consumer}" } } },
  "the dead queue keeps its name": {
    next: { ...shop, names: { queue: "q-{consumer}", dead: "shop.{consumer}.dead" } },
  },
};

const cases = strategiesOn("4.3").flatMap((strategy) =>
  Object.entries(edits)
    .filter(([, { on = [strategy] }]) => on.includes(strategy))
    .map(([name, { old = shop, next = shop, says, loses = false }]) => ({ strategy, name, old, next, says, loses })),
);

function provedOn(strategy: Strategy, declaration: object): Proved<"rabbitmq"> {
  const { consumers, ...rest } = declaration as typeof shop;
  const protocol = strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1";
  const speaking = Object.fromEntries(Object.entries(consumers).map(([name, each]) => [name, { ...each, protocol }]));
  const input = checked({ name: "shop", ...rest, consumers: speaking });
  return accepted(compileAndProve<"rabbitmq">(input, { broker: "rabbitmq", version: "4.3", strategy }));
}

/** The topology of a broker after a deployment over another one, and then changed by hand. */
function broker(old: Proved<"rabbitmq">, next: Proved<"rabbitmq">, change: (there: Topology) => Topology = (it) => it) {
  const { topology } = next.compiled;
  return change({ ...topology, ...afterDeployment(old.compiled.topology, topology) });
}

function compared(there: Topology, { compiled, target }: Proved<"rabbitmq">): readonly JudgedDifference[] {
  const exported = rabbitmq.exportFormats["definitions"]?.({ ...compiled, topology: there }, "/");
  const read = accepted(rabbitmq.auditor.file.read(JSON.stringify(exported)));
  const drift = accepted(driftFrom(read, { compiled, target }));
  expect(drift.unread).toEqual([]);
  return judgeDrift(drift);
}

test.for(cases)("$strategy, $name: a broker after the deployment is no difference", ({ strategy, old, next }) => {
  const [before, after] = [provedOn(strategy, old), provedOn(strategy, next)];
  expect(compared(broker(before, after), after)).toEqual([]);
});

test.for(strategiesOn("4.3"))("%s: the deployments of the table leave something", (strategy) => {
  const leaving = cases.filter((each) => {
    if (each.strategy !== strategy) return false;
    const [before, after] = [provedOn(strategy, each.old), provedOn(strategy, each.next)];
    return broker(before, after).bindings.length > after.compiled.topology.bindings.length;
  });
  expect(leaving.map(({ name }) => name)).toContain("a consumer less");
  const alone: Partial<Record<Strategy, string>> = { staged: "another delay", waits: "one attempt" };
  expect(leaving.map(({ name }) => name)).toContain(alone[strategy] ?? "names of queues");
});

type Binding = Topology["bindings"][number];
const bound = (source: string, destination: string, routingKey: string, more: Partial<Binding> = {}): Binding => {
  return { source, destination, destinationKind: "queue", routingKey, arguments: {}, ...more };
};
const after = (attempt: number) => {
  return { arguments: { "x-match": "all-with-x", "x-last-death-exchange": `shop.again.${attempt}` } };
};

const toExchange = { destinationKind: "exchange" } as const;
const [now, before] = ["shop.retry.2x10s.attempts", "shop.retry.3x30s.attempts"];
const anyOf = { arguments: { ...after(4).arguments, "x-match": "any-with-x" } };

const added: readonly (readonly [string, Binding, string])[] = [
  ["dead letters are doubled", bound("shop.dead", "shop.mail.dead", "shop.billing"), "otherwise"],
  ["letters of the old consumer are doubled", bound("shop.dead", "shop.billing.dead", "shop.mail"), "harmless"],
  ["letters of nobody", bound("shop.dead", "shop.billing.dead", "typo"), "harmless"],
  ["letters enter a work queue", bound("shop.dead", "shop.billing", "shop.attempt.2.30s"), "harmless"],
  ["due messages are doubled", bound("shop.again", "shop.mail", "shop.billing"), "otherwise"],
  ["due messages of the old consumer enter another", bound("shop.again", "shop.billing", "shop.mail"), "harmless"],
  ["a retry waits twice", bound(now, "shop.attempt.3.30s", "", after(2)), "otherwise"],
  ["an old attempt enters a work queue", bound("shop.again.4", "shop.billing", ""), "otherwise"],
  ["an old attempt is dead", bound("shop.again.4", "shop.dead", "", toExchange), "otherwise"],
  ["an old schedule enters a work queue", bound(before, "shop.billing", "", after(2)), "otherwise"],
  ["an old schedule with a key", bound(before, "shop.dead", "key", { ...toExchange, ...after(4) }), "otherwise"],
  ["an old schedule takes any message", bound(before, "shop.dead", "", { ...toExchange, ...anyOf }), "otherwise"],
];

test.for(added)("%s: a binding that a person added stays a difference", ([, binding, effect]) => {
  const old = provedOn("staged", { ...shop, consumers: { billing, mail } });
  const next = provedOn("staged", shop);
  const there = broker(old, next, (it) => ({ ...it, bindings: [...it.bindings, binding] }));
  const found = compared(there, next).map((each) => [each.effect, each.change, each.name.split(" ")[0]]);
  expect(found).toEqual([[effect, "extra", binding.source]]);
});

test("a schedule that the deployment did not put in force is judged by all that it leads to", () => {
  const [old, next] = [provedOn("staged", shop), provedOn("staged", retried(retry(5, "20s")))];
  const wayOn = (it: Topology) =>
    it.policies.find(({ name }) => name === "shop.billing.failed") as Topology["policies"][0];
  const there = broker(old, next, (it) => {
    return { ...it, policies: it.policies.map((each) => (each === wayOn(it) ? wayOn(old.compiled.topology) : each)) };
  });
  expect(compared(there, next).map(({ effect, name, reason }) => [effect, name, reason])).toEqual([
    [
      "otherwise",
      "shop.billing.failed",
      expect.stringMatching(/is handled as attempt 1, 2, 3; declared is 1, 2, 3, 4, 5$/),
    ],
  ]);
  // Without the delay of the old tier messages wait there for ever, and that is a loss.
  const policies = there.policies.filter(({ name }) => name !== "shop.attempt.2.10s");
  expect(compared({ ...there, policies }, next)[0]).toMatchObject({ effect: "loss", name: "shop.billing.failed" });
});

test("a harmless difference stays harmless beside bindings that lead into declared tiers", () => {
  const [old, next] = [provedOn("staged", shop), provedOn("staged", retried(retry(5)))];
  const place = { "queue-leader-locator": "balanced" };
  const placed = (each: Topology["policies"][number]) =>
    each.name === "shop.billing" ? { ...each, definition: { ...each.definition, ...place } } : each;
  const there = broker(old, next, (it) => ({ ...it, policies: it.policies.map(placed) }));
  expect(compared(there, next).map(({ effect, name }) => [effect, name])).toEqual([["harmless", "shop.billing"]]);
});

test.for(cases)("$strategy, $name: two declarations show the change alone", ({ strategy, old, next, says, loses }) => {
  const [before, then] = [provedOn(strategy, old), provedOn(strategy, next)];
  const drift = accepted(driftBetween(before, then));
  const judged = judgeDrift(drift);
  expect(judged.some(({ effect }) => effect === "loss")).toBe(loses);
  const reasons = judged.filter(({ effect }) => effect !== "harmless").map(({ reason }) => reason);
  if (says === undefined) expect(reasons).toEqual([]);
  else expect(reasons.filter((reason) => !says.test(reason))).toEqual([]);
  if (strategy === "staged" && says !== undefined) expect(reasons).not.toEqual([]);
  // Only queues and exchanges are new, and ways into declared queues. The ways between retries go with them.
  const bindings = judged.filter(({ change, kind }) => change === "extra" && kind === "binding");
  expect(bindings.filter(({ effect }) => effect === "harmless")).toEqual([]);
});

test("the fix for a binding into a source does not cut off its messages", () => {
  const next = provedOn("staged", shop);
  const binding = bound("amq.topic", "shop.orders", "order.#", toExchange);
  const found = compared(
    broker(next, next, (it) => ({ ...it, bindings: [...it.bindings, binding] })),
    next,
  );
  // A deployment does not remove the binding, and it may be the only way of messages that are wanted.
  expect(found.map(({ effect, repair }) => [effect, repair])).toEqual([
    ["otherwise", expect.stringContaining('declare the source shop.orders with owner: "other"')],
  ]);
});
