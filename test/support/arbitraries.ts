import fc from "fast-check";

import { versions } from "../../src/brokers/rabbitmq/compile/capabilities.ts";
import type { SystemInput, TargetInput } from "../../src/index.ts";
import { shopWith } from "./examples.ts";

const unit = fc.constantFrom("ms", "s", "m");
const duration = fc.tuple(fc.integer({ min: 1, max: 500 }), unit).map(([count, each]) => `${count}${each}` as const);
const jitter = fc.option(
  fc.integer({ min: 1, max: 100 }).map((percent) => `${percent}%` as const),
  { nil: undefined },
);
const toMs = { ms: 1, s: 1_000, m: 60_000 } as const;
const durationMs = (text: string): number => {
  const match = /^(\d+)(ms|s|m)$/.exec(text);
  return Number(match?.[1]) * toMs[match?.[2] as keyof typeof toMs];
};
const ordered = fc
  .tuple(duration, duration)
  .map(([a, b]) => (durationMs(a) <= durationMs(b) ? ([a, b] as const) : ([b, a] as const)));

function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Value;
}

const backoff = (attempts: number): fc.Arbitrary<object> =>
  fc
    .oneof(
      fc.constant({ kind: "immediate" }),
      fc.record({ kind: fc.constant("constant"), delay: duration, jitter }),
      fc
        .tuple(ordered, fc.option(duration, { nil: undefined }), jitter)
        .map(([[first, max], step, each]) => ({ kind: "linear", first, step, max, jitter: each })),
      fc
        .tuple(ordered, fc.double({ min: 1, max: 10, noNaN: true }), jitter)
        .map(([[first, max], factor, each]) => ({ kind: "exponential", first, factor, max, jitter: each })),
      fc
        .array(duration, { minLength: attempts - 1, maxLength: attempts - 1 })
        .map((delays) => ({ kind: "steps", delays })),
    )
    .map(withoutUndefined);

const retry = fc.integer({ min: 1, max: 8 }).chain((attempts) =>
  fc
    .record({
      attempts: fc.constant(attempts),
      backoff: backoff(attempts),
      giveUpAfter: fc.option(duration, { nil: undefined, freq: 4 }),
    })
    .map(withoutUndefined),
);

// Names of every kind that RabbitMQ and the provider take, including odd ones.
const name = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9_-]{0,12}$/),
  fc.stringMatching(/^[a-z][a-z.+*()[\]^$|?\\{}]{0,8}[a-z]$/),
  fc.constantFrom("größe", "注文", "a b", "x:y", "dead", "retry"),
);

const key = fc
  .array(fc.oneof({ weight: 4, arbitrary: fc.stringMatching(/^[a-z0-9]{1,5}$/) }, fc.constantFrom("*", "#")), {
    minLength: 1,
    maxLength: 3,
  })
  .map((words) => words.join("."));

/** Arguments of a work queue, mostly none. Some brokers, versions and strategies refuse some of them. */
const harmless = {
  singleActiveConsumer: fc.boolean(),
  queueLeaderLocator: fc.constantFrom("client-local", "balanced"),
  quorumInitialGroupSize: fc.integer({ min: 1, max: 5 }),
};
const others = {
  maxLength: fc.integer({ min: 1, max: 1_000 }),
  maxLengthBytes: fc.integer({ min: 1, max: 1_000_000 }),
  consumerTimeout: fc.constantFrom("1m", "1h"),
};
const queueArguments = fc.oneof(
  { weight: 12, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.record(harmless, { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.record({ ...harmless, ...others }, { requiredKeys: [] }) },
);

const queueSettings = fc.oneof(
  { weight: 10, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant("arguments") },
  { weight: 2, arbitrary: fc.constant("policy") },
);

/** Rare, because a target with a shared dead queue refuses them. */
const deadSettings = fc.oneof(
  { weight: 18, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant("arguments") },
  { weight: 1, arbitrary: fc.constant("policy") },
);

function deadLetterOf([park, queueSettings]: readonly [boolean, string | undefined]): object | undefined {
  if (!park && queueSettings === undefined) return undefined;
  return { ...(park ? { park } : {}), ...(queueSettings === undefined ? {} : { queueSettings }) };
}

const headersMatch = fc.record({
  match: fc.constantFrom("all", "any", "all-with-x", "any-with-x"),
  headers: fc.constantFrom<Readonly<Record<string, string | number | boolean>>>(
    { type: "invoice" },
    { type: "invoice", region: "eu" },
    { größe: "#" },
    { version: 1 },
    { version: "1", urgent: true },
    { price: 1.5, urgent: "true" },
  ),
});
const headersMatches = fc.oneof(
  headersMatch,
  fc.uniqueArray(headersMatch, { minLength: 1, maxLength: 3, selector: (each) => JSON.stringify(each) }),
);

/** A random system that the schema accepts, with at least one consumer. */
export const anySystem: fc.Arbitrary<SystemInput> = fc
  .tuple(
    name,
    fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
    fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
  )
  .chain(([system, sources, consumers]) =>
    fc
      .tuple(
        fc.constantFrom("amqp-0-9-1", "amqp-0-9-1", "amqp-0-9-1", "amqp-1.0"),
        // Mostly all sources are topics. Other brokers than RabbitMQ refuse the rest.
        fc.constantFrom(-1, -1, -1, -1, -1, -1, 0),
        ...consumers.map(() =>
          fc.record({
            // Without it producers send straight to the work queue.
            from: fc.option(
              fc.tuple(fc.constantFrom(...sources), fc.uniqueArray(key, { minLength: 1, maxLength: 3 })),
              { nil: undefined, freq: 4 },
            ),
            match: fc.option(headersMatches, { nil: "all" }),
            retry,
            crash: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
            queueArguments,
            queueSettings,
            dead: fc.tuple(fc.boolean(), deadSettings),
          }),
        ),
      )
      .map(([protocol, headersAt, ...drawn]) => ({
        name: system,
        sources: Object.fromEntries(
          sources.map((each, index) => [each, { kind: index === headersAt ? "headers" : "topic" }]),
        ),
        consumers: Object.fromEntries(
          consumers.map((each, index) => {
            const one = drawn[index] as (typeof drawn)[number];
            return [
              each,
              withoutUndefined({
                from:
                  one.from === undefined
                    ? undefined
                    : { [one.from[0]]: one.from[0] === sources[headersAt] ? one.match : one.from[1] },
                retry: one.retry,
                crash: one.crash === undefined ? undefined : { deliveries: one.crash },
                deadLetter: deadLetterOf(one.dead),
                protocol,
                queueArguments: one.queueArguments,
                queueSettings: one.queueSettings,
              }),
            ];
          }),
        ),
      })),
  ) as fc.Arbitrary<SystemInput>;

/** Templates for the names of queues. Some end as other names do, or are a part of another. */
export const anyNames = fc.record(
  {
    queue: fc.constantFrom("q-{consumer}", "{system}.{consumer}", "{consumer}.dead", "{consumer}.of.{system}"),
    dead: fc.constantFrom("{queue}.dead", "dlq-{queue}", "{system}.lost.{consumer}", "{consumer}"),
    shared: fc.constantFrom("retries", "{system}-retries", "{system}.again"),
  },
  { requiredKeys: [] },
);

export const anyTarget: fc.Arbitrary<TargetInput<"rabbitmq">> = fc.record({
  broker: fc.constant("rabbitmq" as const),
  version: fc.constantFrom(...versions),
  strategy: fc.constantFrom("auto", "auto", "auto", "auto", "auto", "auto", "native", "deferred", "staged", "waits"),
  deadQueue: fc.constantFrom("own", "own", "own", "shared"),
});

/** Backoffs with delays like these, with and without jitter. */
export function backoffsOf(duration: fc.Arbitrary<string>): fc.Arbitrary<object> {
  const jitter = fc.option(fc.constantFrom("1%", "30%", "100%"), { nil: undefined });
  return fc.oneof(
    fc.constant({ kind: "immediate" }),
    fc.record({ kind: fc.constant("constant"), delay: duration, jitter }),
    fc.record({ kind: fc.constant("exponential"), first: duration, factor: fc.constantFrom(1, 2, 3), jitter }),
    fc.record({ kind: fc.constant("linear"), first: duration, jitter }),
  );
}

/** Systems of one source, `orders`, with up to three such consumers. */
export function systemsOf(consumer: fc.Arbitrary<object>): fc.Arbitrary<SystemInput> {
  return fc
    .array(consumer, { minLength: 1, maxLength: 3 })
    .map((consumers) =>
      shopWith(
        Object.fromEntries(
          consumers.map((each, index) => [`consumer-${index}`, JSON.parse(JSON.stringify(each)) as object]),
        ),
      ),
    ) as fc.Arbitrary<SystemInput>;
}
