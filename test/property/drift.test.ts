import fc from "fast-check";
import { expect, test } from "vitest";

import type { Difference } from "../../src/brokers/rabbitmq/compile/differences.ts";
import { changedBy } from "../../src/brokers/rabbitmq/foreign/changed-topology.ts";
import { concerned } from "../../src/brokers/rabbitmq/foreign/concerned.ts";
import type { Deployment } from "../../src/brokers/rabbitmq/foreign/deployment.ts";
import { subjectsOf } from "../../src/brokers/rabbitmq/prove/model.ts";
import { brokerTopologyOf, semanticsOf, semanticsVersionOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import type { BrokerEvent, BrokerTopology, MessageState } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { brokers, compileAndProve, type Proved, type TargetInput, type Topology } from "../../src/index.ts";
import { type JudgedDifference, judgeDrift } from "../../src/migrate/judge-drift.ts";
import { type Effect, effects } from "../../src/verify/judge.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { accepted, checked, shopWith } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";
import { mutantsOf } from "../support/mutants.ts";

const { rabbitmq } = brokers;

function differencesTo(deployment: Deployment, { compiled, target }: Proved<"rabbitmq">): readonly JudgedDifference[] {
  const drift = accepted(rabbitmq.differ.compare(deployment, compiled, target));
  expect(drift.unread).toEqual([]);
  return judgeDrift(drift);
}

test("a compiled system is no difference to itself, as an export and as a model", () => {
  forAll(40, [anySystem, anyTarget], (input, target) => {
    const proved = compileAndProve<"rabbitmq">(checked(input), target);
    fc.pre(proved.ok);
    const exported = rabbitmq.exportFormats["definitions"]?.(proved.value.compiled, "/");
    const read = accepted(rabbitmq.auditor.file.read(JSON.stringify(exported)));
    expect(differencesTo(read, proved.value)).toEqual([]);
    expect(differencesTo(rabbitmq.differ.deploymentOf(proved.value.compiled), proved.value)).toEqual([]);
  });
});

const targets: readonly TargetInput<"rabbitmq">[] = [
  { broker: "rabbitmq", version: "4.3", strategy: "native" },
  { broker: "rabbitmq", version: "4.3", strategy: "deferred" },
  { broker: "rabbitmq", version: "4.3", strategy: "staged" },
  { broker: "rabbitmq", version: "4.0", strategy: "staged" },
  { broker: "rabbitmq", version: "3.10", strategy: "waits" },
];

function shopOn(target: TargetInput<"rabbitmq">): Proved<"rabbitmq"> {
  const backoff =
    target.strategy === "native" ? { kind: "constant", delay: "1s" } : { kind: "exponential", first: "1s", factor: 2 };
  const consumer = (keys: readonly string[]) => ({
    from: { orders: keys },
    retry: { attempts: 3, backoff },
    protocol: target.strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
  });
  const input = shopWith({ billing: consumer(["order.placed", "order.*.eu"]), shipping: consumer(["order.#"]) });
  return accepted(compileAndProve<"rabbitmq">(checked(input), target));
}

/** The effect by the proof of the whole broken topology, without the comparison. `null` if the proof finds nothing. */
function provedEffect({ compiled, target }: Proved<"rabbitmq">, topology: typeof compiled.topology): Effect | null {
  const verdicts = verifyAll(subjectsOf({ ...compiled, topology }, target, () => []));
  const broken = verdicts.flatMap(({ violations }) => violations.map(({ property }) => property));
  return broken.length === 0 ? null : broken.includes("no-loss") ? "loss" : "otherwise";
}

/** A broker deletes the bindings of a queue or an exchange with it. */
function withoutLooseEnds(topology: Topology): Topology {
  const queues = new Set(topology.queues.map(({ name }) => name));
  const exchanges = new Set(topology.exchanges.map(({ name }) => name));
  const bindings = topology.bindings.filter(
    ({ source, destination, destinationKind }) =>
      exchanges.has(source) && (destinationKind === "queue" ? queues : exchanges).has(destination),
  );
  return { ...topology, bindings };
}

const events: readonly BrokerEvent[] = [
  { kind: "deliver" },
  { kind: "ack" },
  { kind: "nack", requeue: false },
  { kind: "nack", requeue: true },
  { kind: "reject", requeue: true },
  { kind: "crash" },
  { kind: "expire" },
  { kind: "due" },
];

/** The courses of messages under random events, on a whole topology. No part of it is left out. */
function coursesOf(topology: BrokerTopology, proved: Proved<"rabbitmq">, seeds: readonly number[][]): unknown {
  const semantics = semanticsOf(topology, semanticsVersionOf(proved.target));
  const keys = ["order.placed", "order.x.eu"];
  return keys.flatMap((routingKey) =>
    seeds.map((seed) => {
      let states: readonly MessageState[] = semantics.publish({ exchange: "shop.orders", routingKey }).flat();
      return seed.map((choice) => {
        const event = events[choice % events.length] as BrokerEvent;
        states = states.flatMap((state) => semantics.step(state, event)[0] ?? [state]);
        return states.map(({ place, routingKeys, expiresAfterMs, exchange }) => ({
          place: "waitingFor" in place ? place.cause : place,
          routingKeys,
          expiresAfterMs,
          exchange,
        }));
      });
    }),
  );
}

test.for(targets)("every mutant of $strategy on $version is a difference, judged as the proof judges it", (target) => {
  const proved = shopOn(target);
  const { compiled } = proved;
  const declared = brokerTopologyOf(compiled.topology);
  const seeds = fc.sample(fc.array(fc.nat(1_000), { minLength: 20, maxLength: 20 }), { numRuns: 40, seed: 7 });
  const expected = coursesOf(declared, proved, seeds);
  const counts = { loss: 0, otherwise: 0, harmless: 0 };
  for (const { name, topology: broken } of mutantsOf(compiled.topology)) {
    const topology = withoutLooseEnds(broken);
    const found = differencesTo(rabbitmq.differ.deploymentOf({ ...compiled, topology }), proved);
    expect(found.length, name).toBeGreaterThan(0);
    const worst = effects.findLast((effect) => found.some((each) => each.effect === effect)) ?? "harmless";
    counts[worst] += 1;
    // A flaw without a path, such as an argument that the proof does not know, may make it worse.
    const least = provedEffect(proved, topology) ?? "harmless";
    expect(effects.indexOf(worst), `${name}: ${worst}, and proved is ${least}`).toBeGreaterThanOrEqual(
      effects.indexOf(least),
    );
    // A difference alone may be worse than all of a mutant's differences together. Otherwise only a fact about a whole
    // queue is worse than the proof.
    if (worst === "loss" && least !== "loss" && found.length === 1)
      expect(found.find(({ effect }) => effect === "loss")?.reason, name).toMatch(/^a restart deletes messages/);
    if (worst === "harmless") expect(coursesOf(brokerTopologyOf(topology), proved, seeds), name).toEqual(expected);
  }
  expect(counts.loss).toBeGreaterThan(10);
  expect(counts.otherwise).toBeGreaterThan(5);
  expect(counts.harmless).toBeGreaterThan(0);
});

/** Each resource gone or with another setting, and random bindings. */
function changesOf({ queues, exchanges, bindings }: Topology, choices: readonly number[]): readonly Difference[] {
  const settings = [{ key: "x-max-length", deployed: 7 }];
  const policy = [{ key: "max-length", deployed: 7 }];
  const ends = [
    ...queues.map(({ name }) => ({ destination: name, destinationKind: "queue" as const })),
    ...exchanges.map(({ name }) => ({ destination: name, destinationKind: "exchange" as const })),
  ];
  const keys = ["order.placed", ...bindings.map(({ routingKey }) => routingKey), ...queues.map(({ name }) => name)];
  const added = choices.flatMap((choice): readonly Difference[] => {
    const source = exchanges[choice % exchanges.length]?.name;
    const end = ends[(choice >> 5) % ends.length];
    const routingKey = keys[(choice >> 10) % keys.length] ?? "";
    if (source === undefined || end === undefined) return [];
    const binding = { source, ...end, routingKey, arguments: {} };
    return [{ change: "extra", kind: "binding", name: source, settings: [], binding }];
  });
  return [
    ...added,
    ...bindings.map((binding): Difference => {
      return { change: "missing", kind: "binding", name: binding.source, settings: [], binding };
    }),
    ...queues.flatMap(({ name }): readonly Difference[] => [
      { change: "missing", kind: "queue", name, settings: [] },
      { change: "different", kind: "queue", name, settings },
      { change: "different", kind: "queue-policy", name, settings: policy },
    ]),
    ...exchanges.flatMap(({ name }): readonly Difference[] => [
      { change: "missing", kind: "exchange", name, settings: [] },
      { change: "different", kind: "exchange", name, settings: [{ key: "type", deployed: "fanout" }] },
      {
        change: "different",
        kind: "exchange-policy",
        name,
        settings: [{ key: "alternate-exchange", deployed: "amq.fanout" }],
      },
    ]),
  ];
}

test("a difference changes no proof of a consumer that it does not concern", () => {
  const counts = { changed: 0, left: 0 };
  forAll(
    100,
    [anySystem, anyTarget, fc.array(fc.nat(), { minLength: 40, maxLength: 40 })],
    (input, target, choices) => {
      const proved = compileAndProve<"rabbitmq">(checked(input), target);
      if (!proved.ok) return;
      const { compiled } = proved.value;
      const concernedBy = concerned(compiled.topology, compiled);
      const shapesOf = (topology: Topology): readonly (readonly [string, string])[] =>
        subjectsOf({ ...compiled, topology }, proved.value.target).map(({ consumer, shape }) => [consumer, shape()]);
      const before = new Map(shapesOf(compiled.topology));
      for (const difference of changesOf(compiled.topology, choices)) {
        const named = new Set(concernedBy([difference]).map(({ consumer }) => consumer));
        for (const [consumer, shape] of shapesOf(changedBy(compiled.topology, difference))) {
          if (!named.has(consumer))
            expect(shape, `${consumer} ${JSON.stringify(difference)}`).toBe(before.get(consumer));
          counts[named.has(consumer) ? "changed" : "left"] += 1;
        }
      }
    },
  );
  expect(counts.changed).toBeGreaterThan(1_000);
  expect(counts.left).toBeGreaterThan(1_000);
});

test.for(targets)("a limit of $strategy on $version that a queue has by itself is no loss of its policy", (target) => {
  const proved = shopOn(target);
  const { compiled } = proved;
  const { policies, queues } = compiled.topology;
  // No message reaches the greatest one, and none is above it.
  const limits = policies.filter(({ definition: { "delivery-limit": limit } }) => {
    return Number(limit) > 0 && Number(limit) < Number.MAX_SAFE_INTEGER;
  });
  expect(limits.length).toBeGreaterThan(0);
  for (const { name, definition } of limits) {
    const { "delivery-limit": limit, ...rest } = definition;
    const effectsOf = (own: number): readonly string[] => {
      const withOwn = queues.map((each) =>
        each.name === name ? { ...each, arguments: { ...each.arguments, "x-delivery-limit": own } } : each,
      );
      const withoutPolicy = policies.map((each) => (each.name === name ? { ...each, definition: rest } : each));
      const topology = { ...compiled.topology, queues: withOwn, policies: withoutPolicy };
      const found = differencesTo(rabbitmq.differ.deploymentOf({ ...compiled, topology }), proved);
      return found.map(({ kind, effect }) => `${kind}: ${effect}`).toSorted();
    };
    expect(effectsOf(Number(limit)), name).toEqual(["policy in force on the queue: harmless", "queue: harmless"]);
    expect(effectsOf(Number(limit) + 1), name).toEqual(["policy in force on the queue: otherwise", "queue: harmless"]);
  }
});
