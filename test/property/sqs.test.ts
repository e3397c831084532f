import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { filterOf, type FilterValue, policyOf } from "../../src/brokers/sqs/compile/filter.ts";
import { isTaken } from "../../src/brokers/sqs/prove/semantics/filter-policy.ts";
import { route, routingIndex } from "../../src/brokers/rabbitmq/prove/routing.ts";
import type { CompiledSystem, Diagnostic, System, TargetInput } from "../../src/index.ts";
import { prepare } from "../../src/consume/consume.ts";
import { brokers, checkSystem, compile } from "../../src/index.ts";
import { anySystem } from "../support/arbitraries.ts";
import { expectDrawn, expectSameAgain } from "../support/compiled-properties.ts";
import { forAll } from "../support/for-all.ts";

/** Mostly values that compile, and a few that do not. */
const mostly = <Value>(usual: fc.Arbitrary<Value>, odd: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 12, arbitrary: usual }, odd);
const seldom = <Value>(odd: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  mostly<Value | undefined>(fc.constant(undefined), odd);

const seconds = mostly(
  fc.integer({ min: 1, max: 600 }).map((count) => `${count}s`),
  fc.constantFrom("1ms", "1500ms", "1h", "11h", "12h", "13h", "5d"),
);
const backoff = fc.oneof(
  fc.constant({ kind: "immediate" }),
  fc.record({ kind: fc.constant("constant"), delay: seconds }),
  fc.record({ kind: fc.constant("constant"), delay: seconds, jitter: fc.constantFrom("1%", "20%", "100%") }),
  fc.record({
    kind: fc.constant("exponential"),
    first: seconds,
    factor: mostly(fc.constant(2), fc.constantFrom(1, 1.5, 10)),
  }),
);
const name = mostly(
  fc.stringMatching(/^[a-z][a-z0-9_-]{0,12}$/),
  fc.oneof(
    fc.stringMatching(/^[a-z]{30,40}$/),
    fc.constantFrom("dead", "a-dead", "a", "undelivered", "a.fifo", "größe"),
  ),
);
const consumer = fc
  .record({
    from: mostly<string | string[]>(
      fc.constantFrom("all", ["order.placed"], ["order.#", "#.placed"], ["#"]),
      fc.constantFrom(["order.*"], ["a.#.b"], ['"']),
    ),
    retry: fc.record({
      attempts: mostly(fc.integer({ min: 1, max: 8 }), fc.constantFrom(100, 1_000)),
      backoff,
      retryAfter: seldom(fc.record({ max: seconds })),
    }),
    handlerTimeout: fc.option(seconds, { nil: undefined, freq: 4 }),
    order: fc.constantFrom("none", "none", "none", "per-key"),
    crash: seldom(fc.record({ deliveries: fc.integer({ min: 1, max: 8 }) })),
    deadLetter: fc.option(
      fc.record({
        retain: mostly(fc.constantFrom("1h", "7d", "12d"), fc.constantFrom("14d", "15d")),
        alarmAbove: fc.nat(9),
        park: fc.boolean(),
      }),
      { nil: undefined },
    ),
  })
  .map(({ from, ...rest }) => JSON.parse(JSON.stringify({ from: { orders: from }, ...rest })) as object);
const anyDeclaration = fc.record({
  name,
  sources: fc.constant({ orders: { kind: "topic" } }),
  consumers: fc.dictionary(name, consumer, { minKeys: 1, maxKeys: 3 }),
});
const anyTarget: fc.Arbitrary<TargetInput<"sqs">> = fc.record({
  broker: fc.constant("sqs" as const),
  region: fc.constantFrom("eu-west-1", "us-gov-west-1"),
  strategy: fc.constantFrom("auto", "auto", "auto", "redrive", "visibility"),
});

type Sqs = CompiledSystem<"sqs">;
type SqsQueue = Sqs["topology"]["queues"][number];

/** Runs a check on everything that compiles. Each path of a refusal must lead to a value that the declaration holds. */
function forEveryCompiled(check: (compiled: Sqs, input: unknown, target: TargetInput<"sqs">) => void): void {
  let compiledCount = 0;
  forAll(400, [fc.oneof({ weight: 12, arbitrary: anyDeclaration }, anySystem), anyTarget], (input, target) => {
    const system = checkSystem(input);
    if (!system.ok) return;
    const result = compile(system.value, target);
    for (const each of result.ok ? result.warnings : result.diagnostics) expectPlace(each, system.value);
    if (!result.ok) return;
    compiledCount++;
    check(result.value, input, target);
  });
  expect(compiledCount).toBeGreaterThan(50);
}

/** The path must lead to a value, and the message must name it. */
function expectPlace({ path, message, code }: Diagnostic, input: unknown): void {
  expect(message).not.toBe("");
  const steps = [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[]+)/g)].map(
    ([, quoted, index, plain]) => plain ?? index ?? (JSON.parse(`"${quoted}"`) as string),
  );
  const place = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], input);
  expect(place, `${code} at ${path}`).toBeDefined();
}

test("the same input gives the same bytes, frozen, and data that survives JSON", () => {
  forEveryCompiled((compiled, input, target) => {
    const system = checkSystem(structuredClone(input));
    expectSameAgain(compiled, system.ok ? compile(system.value, { ...target }) : system);
  });
});

test("every attribute is within the limits of SQS", () => {
  forEveryCompiled(({ topology }) => {
    const names = topology.queues.map((queue) => queue.name);
    expect(new Set(names).size).toBe(names.length);
    for (const queue of topology.queues) {
      expect(queue.name).toMatch(queue.fifo ? /^[A-Za-z0-9_-]{1,75}\.fifo$/ : /^[A-Za-z0-9_-]{1,80}$/);
      expectWhole(queue.visibilityTimeoutSeconds, 0, 43_200);
      expectWhole(queue.retentionSeconds, 60, 1_209_600);
      expectWhole(queue.delaySeconds, 0, 900);
      expectWhole(queue.receiveWaitSeconds, 0, 20);
      if (queue.redrive !== null) expectWhole(queue.redrive.maxReceiveCount, 1, 1_000);
      const { redriveAllow } = queue;
      if (redriveAllow.permission === "byQueue") expectWhole(redriveAllow.sourceQueues.length, 1, 10);
    }
    for (const { filterPolicy } of topology.subscriptions) {
      for (const values of Object.values(filterPolicy ?? {})) expectWhole(values.length, 1, 150);
    }
  });
});

function expectWhole(value: number, least: number, most: number): void {
  expect(Number.isInteger(value)).toBe(true);
  expect(value).toBeGreaterThanOrEqual(least);
  expect(value).toBeLessThanOrEqual(most);
}

test("every named resource exists and has the right type, and messages end in dead queues", () => {
  forEveryCompiled(({ topology }) => {
    const queues = new Map(topology.queues.map((queue) => [queue.name, queue]));
    const topics = new Map(topology.topics.map((topic) => [topic.name, topic]));
    for (const queue of topology.queues) {
      expect(queue.redrive === null).toBe(queue.role !== "work");
      if (queue.redrive !== null) {
        const dead = queues.get(queue.redrive.deadQueue);
        expect(dead).toMatchObject({ role: "dead", fifo: queue.fifo, consumer: queue.consumer });
        expect(dead?.redriveAllow).toEqual({ permission: "byQueue", sourceQueues: [queue.name] });
        expect(dead?.retentionSeconds).toBeGreaterThanOrEqual(queue.retentionSeconds);
      }
      for (const topic of queue.sendersTopics) expect(topics.has(topic)).toBe(true);
    }
    for (const { topic, queue, deadQueue } of topology.subscriptions) {
      expect(queues.get(queue)?.sendersTopics).toContain(topic);
      expect(queues.get(deadQueue)?.sendersTopics).toContain(topic);
      expect(queues.get(deadQueue)).toMatchObject({ role: "undelivered", fifo: queues.get(queue)?.fifo });
      // Only a FIFO topic can send to a FIFO queue.
      if (queues.get(queue)?.fifo === true) expect(topics.get(topic)?.fifo).toBe(true);
    }
    for (const { queue } of topology.alarms) expect(queues.has(queue)).toBe(true);
  });
});

test("an always failing message is never early, has all of its attempts within the retention, and is not visible for ever", () => {
  forEveryCompiled(({ topology, contracts }) => {
    for (const contract of contracts) {
      const work = topology.queues.find((queue) => queue.name === contract.workQueue);
      if (work === undefined) throw new Error("no work queue");
      const handlerMs = contract.handlerTimeoutMs ?? 0;
      const visibilityMs = work.visibilityTimeoutSeconds * 1_000;
      expect(visibilityMs).toBeGreaterThanOrEqual(handlerMs);
      expect(work.redrive?.maxReceiveCount).toBe(contract.attempts.length);
      let atMs = 0;
      for (const { attempt } of contract.attempts) {
        const outcome = contract.outcomes.transient;
        const [operation] = "byAttempt" in outcome ? (outcome.byAttempt[attempt - 1] ?? []) : outcome;
        const after = operation?.operation === "ChangeMessageVisibility" ? operation.visibilityTimeoutSeconds : null;
        if (after === "asked") throw new Error("a delay that is asked for is no plain failure");
        const shortestMs = after === null ? visibilityMs - handlerMs : after.from * 1_000;
        const longestMs = after === null ? visibilityMs : after.to * 1_000;
        if (after !== null) expect(visibilityMs + longestMs).toBeLessThanOrEqual(43_200_000);
        const next = contract.attempts[attempt];
        if (next !== undefined) {
          expect(shortestMs).toBeGreaterThanOrEqual(next.delayMs);
          expect(longestMs).toBeLessThanOrEqual(next.delayLatestMs ?? next.delayMs);
        }
        atMs += after === null ? visibilityMs : visibilityMs + longestMs;
      }
      expect(atMs).toBeLessThan(work.retentionSeconds * 1_000);
    }
  });
});

test("every compiled system can be drawn, and every queue is in the picture", () => {
  forEveryCompiled((compiled) => {
    expectDrawn(brokers.sqs.graphOf(compiled), compiled.topology.queues);
  });
});

describe("a filter takes the same keys as a topic exchange of RabbitMQ, or is refused", () => {
  const words = fc.array(fc.constantFrom("a", "b", "order", "", "#", "*"), { minLength: 1, maxLength: 4 });
  const pattern = words.map((each) => each.join(".")).filter((each) => each !== "");
  const key = fc
    .array(fc.constantFrom("a", "b", "order", "x"), { minLength: 1, maxLength: 4 })
    .map((each) => each.join("."));

  test("for every pattern and key", () => {
    forAll(5_000, [fc.array(pattern, { minLength: 1, maxLength: 3 }), key], (patterns, published) => {
      const filter = filterOf(patterns, "topic");
      if ("problems" in filter) {
        // The compiler never refuses a whole key.
        expect(patterns.some((each) => /[*#]/.test(each))).toBe(true);
        return;
      }
      const binding = { source: "orders", destination: "work", destinationKind: "queue", arguments: {} } as const;
      const index = routingIndex({
        exchanges: [{ name: "orders", kind: "topic", arguments: {} }],
        queues: [{ name: "work" }],
        bindings: patterns.map((routingKey) => ({ ...binding, routingKey })),
      });
      const reaches = (route(index, "orders", { routingKeys: [published], headers: {} }) ?? []).length > 0;
      expect(takes(filter.values, published)).toBe(reaches);
    });
  });

  test("and the same messages as the matches of a headers source", () => {
    const headers = fc.dictionary(fc.constantFrom("type", "region", "x-team"), fc.constantFrom("a", "b"), {
      maxKeys: 3,
    });
    const forms = fc.constantFrom("all", "all-with-x", "any");
    const match = fc.record({ match: forms, headers: headers.filter(hasKeys) });
    const counts = { written: 0, several: 0 };
    const matches = fc.uniqueArray(match, { minLength: 1, maxLength: 4, selector: (each) => JSON.stringify(each) });
    forAll(5_000, [matches, headers], (wanted, published) => {
      const filter = policyOf({ from: { files: "all" }, matches: { files: wanted } } as never, "files", "headers");
      if ("problems" in filter) {
        expect(wanted.length > 1 || wanted[0]?.match === "any").toBe(true);
        return;
      }
      counts.written++;
      if (wanted.length > 1) counts.several++;
      const isWanted = wanted.some((each) => {
        const found = Object.entries(each.headers).map(([name, value]) => published[name] === value);
        return each.match === "any" ? found.some(Boolean) : found.every(Boolean);
      });
      expect(isTaken(filter.policy, published)).toBe(isWanted ? "yes" : "no");
    });
    expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThan(50);
  });

  function hasKeys(headers: object): boolean {
    return Object.keys(headers).length > 0;
  }

  function takes(values: readonly FilterValue[] | null, published: string): boolean {
    if (values === null) return true;
    return values.some((value) => {
      if (typeof value === "string") return value === published;
      return "prefix" in value ? published.startsWith(value.prefix) : published.endsWith(value.suffix);
    });
  }
});

test("a consumer that is compiled alone receives and settles as it does beside others, for any target", () => {
  forEveryCompiled((compiled, input, target) => {
    const consumers = compiled.contracts.map(({ consumer }) => consumer);
    const more = { ...target, emptiedDeadQueues: consumers };
    const whole = compiledWhole(input, more);
    for (const consumer of consumers) {
      const alone = prepare(whole.system, consumer, { target: more, connection: {} });
      if (!alone.ok) throw new Error(`${consumer} is refused: ${JSON.stringify(alone.diagnostics)}`);
      const { contract, compiled: own } = alone.value;
      const beside = whole.compiled.contracts.find((each) => each.consumer === consumer);
      // All subscribers decide whether a topic is FIFO. A receiver does not look at it.
      expect({ ...contract, sources: [] }).toEqual({ ...beside, sources: [] });
      const queues = (own as Sqs).topology.queues.filter((queue) => queue.consumer === consumer);
      expect(queues.length).toBeGreaterThan(0);
      const { queues: besides } = whole.compiled.topology;
      expect(besides.map(settingsOf)).toEqual(expect.arrayContaining(queues.map(settingsOf)));
    }
  });
});

/** The settings that a consumer compares before it starts. */
function settingsOf({ name, fifo, retentionSeconds, redrive, visibilityTimeoutSeconds, delaySeconds }: SqsQueue) {
  return { name, fifo, retentionSeconds, redrive, visibilityTimeoutSeconds, delaySeconds };
}

function compiledWhole(
  input: unknown,
  target: TargetInput<"sqs">,
): { readonly system: System; readonly compiled: Sqs } {
  const system = checkSystem(input);
  if (!system.ok) throw new Error("what compiled is a system");
  const compiled = compile(system.value, target);
  if (!compiled.ok) throw new Error("it compiles, whoever empties its dead queues");
  return { system: system.value, compiled: compiled.value };
}
