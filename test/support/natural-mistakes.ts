import { oneConsumer, within } from "./examples.ts";

// People make these mistakes who have not read the docs. They know Spring, MassTransit, NServiceBus, Celery, Symfony
// or a broker.

/** A mistake with the only answer to it: its code, its place and its fix. */
export type Row = readonly [mistake: string, input: unknown, code: string, path: string, fix: string];

export const steady = { kind: "constant", delay: "30s" };
const exponential = { kind: "exponential", first: "1s" };
export const at = "consumers.billing";
export const inRetry = `${at}.retry`;
export const inBackoff = `${inRetry}.backoff`;
export const system = within("", (fields: Record<string, unknown>) => oneConsumer({}, fields));
export const consumer = within(at, oneConsumer);
export const from = within(at, (value: unknown) => oneConsumer({ from: value }));
export const retry = within(inRetry, (fields: object) =>
  oneConsumer({ retry: { attempts: 5, backoff: steady, ...fields } }),
);
export const uncounted = within(inRetry, (fields: object) => oneConsumer({ retry: { ...fields, backoff: steady } }));
const backoffOf = (value: unknown): unknown => oneConsumer({ retry: { attempts: 5, backoff: value } });
export const backoff = within(inBackoff, backoffOf);

const durations: readonly Row[] = [
  ...(
    [
      ["words", "5 minutes", "5m"],
      ["an abbreviation", "30sec", "30s"],
      ["a capital letter", "5M", "5m"],
      ["two units", "1h30m", "90m"],
      ["a fraction", "1.5h", "90m"],
      ["a week", "1w", "7d"],
      ["TimeSpan of .NET", "00:00:30", "30s"],
      ["ISO 8601", "PT1H30M", "90m"],
    ] as const
  ).map(([mistake, delay, right]) =>
    backoff(mistake, { kind: "constant", delay }, "RD103", "delay", `write it as "${right}"`),
  ),
  backoff("timedelta of Python", { kind: "constant", delay: { minutes: 5 } }, "RD101", "delay", 'write it as "5m"'),
  backoff(
    "milliseconds",
    { kind: "constant", delay: 1000 },
    "RD101",
    "delay",
    'write it as "1000ms", or with the unit you mean: "1000s", "1000m"',
  ),
  consumer(
    "seconds",
    { handlerTimeout: 30 },
    "RD101",
    "handlerTimeout",
    'write it as "30s", or with the unit you mean: "30ms", "30m"',
  ),
  backoff("a unit in the key", { kind: "constant", delayMs: 30_000 }, "RD102", "delayMs", 'write delay: "30000ms"'),
  backoff("seconds in the key", { kind: "constant", delaySeconds: 30 }, "RD102", "delaySeconds", 'write delay: "30s"'),
  backoff(
    "Spring's word with a unit",
    { kind: "exponential", initialDelayMs: 1000, factor: 2 },
    "RD102",
    "initialDelayMs",
    'write first: "1000ms"',
  ),
  consumer(
    "days to keep",
    { deadLetter: { retain: 14 } },
    "RD101",
    "deadLetter.retain",
    'write it as "14d", or with the unit you mean: "14s", "14m"',
  ),
  consumer("a month", { deadLetter: { retain: "1 month" } }, "RD103", "deadLetter.retain", 'write it as "30d"'),
  backoff(
    "several in one text",
    { kind: "steps", delays: "1s, 10s, 1m, 10m" },
    "RD101",
    "delays",
    'write it as ["1s", "10s", "1m", "10m"]',
  ),
  retry("a day", { giveUpAfter: "1 day" }, "RD103", "giveUpAfter", 'write it as "1d"'),
  backoff(
    "a list of them",
    { kind: "steps", delays: ["1s", "10s", "1 min", "10m"] },
    "RD103",
    "delays[2]",
    'write it as "1m"',
  ),
];

const shares: readonly Row[] = [
  backoff("a share", { ...steady, jitter: 0.2 }, "RD101", "jitter", 'write it as "20%"'),
  backoff("a share as a text", { ...steady, jitter: "0.2" }, "RD104", "jitter", 'write it as "20%"'),
  backoff("a percentage without its sign", { ...steady, jitter: 20 }, "RD101", "jitter", 'write it as "20%"'),
  backoff(
    "on, as in Celery",
    { ...steady, jitter: true },
    "RD101",
    "jitter",
    'write it as "20%"; leave jitter out for none',
  ),
  retry("beside the backoff", { jitter: "20%" }, "RD102", "jitter", `move it to ${inBackoff}.jitter`),
];

export const aRetry = '{ attempts: 5, backoff: { kind: "constant", delay: "30s" } }';

const counts: readonly Row[] = [
  uncounted("a typo", { atempts: 5 }, "RD102", "atempts", "did you mean attempts?"),
  uncounted("Spring's maxAttempts", { maxAttempts: 5 }, "RD102", "maxAttempts", "write attempts: 5"),
  uncounted("Celery's max_retries", { max_retries: 3 }, "RD102", "max_retries", "write attempts: 4"),
  uncounted("MassTransit's retryLimit", { retryLimit: 3 }, "RD102", "retryLimit", "write attempts: 4"),
  uncounted("SQS's maxReceiveCount", { maxReceiveCount: 5 }, "RD102", "maxReceiveCount", "write attempts: 5"),
  retry("a text", { attempts: "5" }, "RD101", "attempts", "write it as 5"),
  consumer("a number alone", { retry: 5 }, "RD101", "retry", `write it as ${aRetry}`),
  ...[false, "none"].map((value) =>
    consumer(
      `no retry as ${value}`,
      { retry: value },
      "RD101",
      "retry",
      'write it as { attempts: 1, backoff: { kind: "immediate" } }',
    ),
  ),
  consumer(
    "delays alone",
    { retry: ["1s", "1m"] },
    "RD101",
    "retry",
    'write it as { attempts: 3, backoff: { kind: "steps", delays: ["1s", "1m"] } }',
  ),
  consumer(
    "left to the delays",
    { retry: { backoff: { kind: "steps", delays: ["1s", "1m"] } } },
    "RD101",
    "retry.attempts",
    "add attempts: 3",
  ),
  retry("none", { attempts: 0 }, "RD104", "attempts", "choose a whole number from 1 to 1000"),
  consumer("a count of crashes alone", { crash: 3 }, "RD101", "crash", "write it as { deliveries: 3 }"),
  consumer("another word for them", { crash: { count: 3 } }, "RD102", "crash.count", "write deliveries: 3"),
  consumer(
    "beside the retry",
    { retry: { backoff: steady }, attempts: 5 },
    "RD102",
    "attempts",
    `move it to ${inRetry}.attempts`,
  ),
  consumer("twice", { retries: 3 }, "RD102", "retries", `remove it: ${inRetry}.attempts is there already`),
];

const backoffs: readonly Row[] = [
  backoff(
    "a kind alone",
    "exponential",
    "RD101",
    "",
    'write it as { kind: "exponential", first: "1s", factor: 2, max: "1m" }',
  ),
  backoff("a delay alone", "30s", "RD101", "", 'write it as { kind: "constant", delay: "30s" }'),
  backoff(
    "a list",
    ["1s", "10s", "1m", "10m"],
    "RD101",
    "",
    'write it as { kind: "steps", delays: ["1s", "10s", "1m", "10m"] }',
  ),
  consumer(
    "the kind as a key",
    { retry: { attempts: 5, exponential: { first: "1s", factor: 2 } } },
    "RD102",
    "retry.exponential",
    'write backoff: { kind: "exponential", first: "1s", factor: 2 }',
  ),
  backoff(
    "type in place of kind",
    { type: "exponential", first: "1s", factor: 2 },
    "RD101",
    "kind",
    'write kind: "exponential" instead of type',
  ),
  backoff("no kind", { first: "1s", factor: 2 }, "RD101", "kind", 'add kind: "exponential"'),
  backoff("Spring's fixed", { kind: "fixed", delay: "1s" }, "RD101", "kind", 'write kind: "constant"'),
  backoff("MassTransit's incremental", { kind: "Incremental", first: "1s" }, "RD101", "kind", 'write kind: "linear"'),
  backoff(
    "MassTransit's intervals",
    { kind: "intervals", delays: ["1s", "1s", "1s", "1s"] },
    "RD101",
    "kind",
    'write kind: "steps"',
  ),
  backoff("Spring's multiplier", { ...exponential, multiplier: 2 }, "RD102", "multiplier", "write factor: 2"),
  backoff(
    "Spring's initialInterval",
    { kind: "exponential", initialInterval: "1 s", factor: 2 },
    "RD102",
    "initialInterval",
    'write first: "1s"',
  ),
  backoff("maxDelay", { ...exponential, factor: 2, maxDelay: "1m" }, "RD102", "maxDelay", 'write max: "1m"'),
  backoff("interval", { kind: "constant", interval: "1s" }, "RD102", "interval", 'write delay: "1s"'),
  backoff("no factor", exponential, "RD101", "factor", "add factor: 2"),
  backoff("a factor as a text", { ...exponential, factor: "2" }, "RD101", "factor", "write it as 2"),
  retry("a time to retry after", { retryAfter: "1m" }, "RD101", "retryAfter", 'write it as { max: "1m" }'),
  retry(
    "46 days",
    { attempts: 22, backoff: { ...exponential, factor: 2 } },
    "RD119",
    "backoff",
    'add max, such as max: "1h", or giveUpAfter: "25d" if you mean it',
  ),
];

const routes: readonly Row[] = [
  from("a list of sources", ["orders"], "RD101", "from", 'write it as { orders: "all" }'),
  from("a source alone", "orders", "RD101", "from", 'write it as { orders: "all" }'),
  from("a list of mappings", [{ orders: "all" }], "RD101", "from", 'write it as { orders: "all" }'),
  consumer("topics", { from: undefined, topics: ["orders"] }, "RD102", "topics", 'write from: { orders: "all" }'),
  from("routing keys alone", ["order.placed"], "RD101", "from", 'write it as { orders: ["order.placed"] }'),
  from("# for everything", { orders: "#" }, "RD101", "from.orders", 'write it as "all"'),
  from("one key without a list", { orders: "order.placed" }, "RD101", "from.orders", 'write it as ["order.placed"]'),
  ...[
    ["a prefix", "order*"],
    ["two asterisks", "order.**"],
  ].map(([mistake = "", key]) =>
    from(mistake, { orders: [key] }, "RD110", "from.orders[0]", 'write "order.#", or list the routing keys'),
  ),
  from("the singular", { order: ["order.placed"] }, "RD108", "from.order", "did you mean orders?"),
  consumer(
    "bindings",
    { from: undefined, bindings: { orders: "all" } },
    "RD102",
    "bindings",
    'write from: { orders: "all" }',
  ),
];

const queueArguments: readonly Row[] = (
  [
    ["x-single-active-consumer", true, "write singleActiveConsumer: true"],
    ["x-max-length", "1000", "write maxLength: 1000"],
    ["max_length_bytes", 1000, "write maxLengthBytes: 1000"],
    ["x-consumer-timeout", "1 hour", 'write consumerTimeout: "1h"'],
    ["queue-master-locator", "client-local", 'write queueLeaderLocator: "client-local"'],
    ["replicas", 5, "write quorumInitialGroupSize: 5"],
    [
      "x-max-priority",
      10,
      "remove it: work queues are quorum queues, which have priorities from 4.0 on without an argument",
    ],
    ["x-overflow", "drop-head", "remove it: a full queue refuses messages, because every other way loses some"],
    ["x-queue-type", "classic", "remove it: work queues are quorum queues, because a classic queue can lose messages"],
    ["x-message-ttl", 60_000, "remove it: a time to live would end messages that nobody has tried"],
  ] as const
).map(([key, value, fix]) =>
  consumer(`${key} of a queue`, { queueArguments: { [key]: value } }, "RD102", `queueArguments.${key}`, fix),
);

const systems: readonly Row[] = [
  system(
    "consumers as a list",
    { consumers: [{ name: "billing", from: { orders: "all" }, retry: { attempts: 5, backoff: steady } }] },
    "RD101",
    "consumers",
    `write it as { billing: { from: { orders: "all" }, retry: ${aRetry} } }`,
  ),
  system("sources as a list", { sources: ["orders"] }, "RD101", "sources", 'write it as { orders: { kind: "topic" } }'),
  system(
    "a source as a text",
    { sources: { orders: "topic" } },
    "RD101",
    "sources.orders",
    'write it as { kind: "topic" }',
  ),
  system(
    "type of an exchange",
    { sources: { orders: { type: "topic" } } },
    "RD102",
    "sources.orders.type",
    'write kind: "topic"',
  ),
  system(
    "exchanges",
    { sources: undefined, exchanges: { orders: { kind: "topic" } } },
    "RD102",
    "exchanges",
    'write sources: { orders: { kind: "topic" } }',
  ),
  system(
    "the exchange of a source",
    { sources: { orders: { kind: "topic", exchange: "events" } } },
    "RD102",
    "sources.orders.exchange",
    'write name: "events"',
  ),
  system(
    "the target in the declaration",
    { target: "rabbitmq@4.3" },
    "RD102",
    "target",
    "remove it: a command takes it as --target, and a component as target",
  ),
  system("a name that is a number", { name: 5 }, "RD101", "name", 'write it as "5"'),
];

const consumers: readonly Row[] = [
  consumer(
    "the arguments of a queue",
    { arguments: { singleActiveConsumer: true } },
    "RD102",
    "arguments",
    "write queueArguments: { singleActiveConsumer: true }",
  ),
  consumer("prefetch", { prefetch: 5 }, "RD102", "prefetch", "remove it: concurrency is an option of consume"),
  consumer("timeout", { timeout: "30s" }, "RD102", "timeout", 'write handlerTimeout: "30s"'),
  ...(
    [
      ["errors as a list", ["ValidationError"], "RD101", "", 'write it as { permanent: ["ValidationError"] }'],
      [
        "one error without a list",
        { permanent: "ValidationError" },
        "RD101",
        ".permanent",
        'write it as ["ValidationError"]',
      ],
      [
        "MassTransit's ignore",
        { ignore: ["ValidationError"] },
        "RD102",
        ".ignore",
        'write permanent: ["ValidationError"]',
      ],
    ] as const
  ).map(([mistake, errors, code, key, fix]) => consumer(mistake, { errors }, code, `errors${key}`, fix)),
  ...["permanent", "nonRetryableErrors"].map((key) =>
    retry(`${key} in the retry`, { [key]: ["X"] }, "RD102", key, `move it to ${at}.errors.permanent`),
  ),
  retry("a timeout in the retry", { timeout: "30s" }, "RD102", "timeout", `move it to ${at}.handlerTimeout`),
  consumer(
    "errors in one text",
    { errors: { permanent: "A, B" } },
    "RD101",
    "errors.permanent",
    'write it as ["A", "B"]',
  ),
  consumer("dlq", { dlq: { retain: "7d" } }, "RD102", "dlq", 'write deadLetter: { retain: "7d" }'),
  consumer(
    "a time to live of dead letters",
    { deadLetter: { ttl: "7d" } },
    "RD102",
    "deadLetter.ttl",
    'write retain: "7d"',
  ),
  consumer(
    "an alarm as a text",
    { deadLetter: { alarmAbove: "10" } },
    "RD101",
    "deadLetter.alarmAbove",
    "write it as 10",
  ),
  consumer(
    "a broadcast",
    { delivery: "broadcast", retry: undefined },
    "RD101",
    "delivery",
    'write it as "every-instance"',
  ),
  consumer("FIFO", { order: "fifo" }, "RD101", "order", 'write it as "per-key"'),
  consumer("a protocol's number", { protocol: "1.0" }, "RD101", "protocol", 'write it as "amqp-1.0"'),
];

/** Mistakes in declarations. */
export const naturalMistakes: readonly Row[] = [
  durations,
  shares,
  counts,
  backoffs,
  routes,
  systems,
  consumers,
  queueArguments,
].flat();
