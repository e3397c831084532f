import { oneConsumer } from "./examples.ts";

// People make these mistakes who have not read the docs. They know Spring, MassTransit, NServiceBus, Celery, Symfony
// or a broker.

/** A mistake with the only answer to it: its code, its place and its fix. */
export type Row = readonly [mistake: string, input: unknown, code: string, path: string, fix: string];

const steady = { kind: "constant", delay: "30s" };
const retry = (fields: object): unknown => oneConsumer({ retry: { attempts: 5, backoff: steady, ...fields } });
const backoff = (fields: unknown): unknown => retry({ backoff: fields });
const delay = (value: unknown): unknown => backoff({ kind: "constant", delay: value });
const jitter = (value: unknown): unknown => backoff({ ...steady, jitter: value });
const consumer = oneConsumer;
const system = (fields: Record<string, unknown>): unknown => oneConsumer({}, fields);
const at = "consumers.billing";
const inRetry = `${at}.retry`;
const inBackoff = `${inRetry}.backoff`;

const durations: readonly Row[] = [
  ["words", delay("5 minutes"), "RD103", `${inBackoff}.delay`, 'write it as "5m"'],
  ["an abbreviation", delay("30sec"), "RD103", `${inBackoff}.delay`, 'write it as "30s"'],
  ["a capital letter", delay("5M"), "RD103", `${inBackoff}.delay`, 'write it as "5m"'],
  ["two units", delay("1h30m"), "RD103", `${inBackoff}.delay`, 'write it as "90m"'],
  ["a fraction", delay("1.5h"), "RD103", `${inBackoff}.delay`, 'write it as "90m"'],
  ["a week", delay("1w"), "RD103", `${inBackoff}.delay`, 'write it as "7d"'],
  ["TimeSpan of .NET", delay("00:00:30"), "RD103", `${inBackoff}.delay`, 'write it as "30s"'],
  ["ISO 8601", delay("PT1H30M"), "RD103", `${inBackoff}.delay`, 'write it as "90m"'],
  ["timedelta of Python", delay({ minutes: 5 }), "RD101", `${inBackoff}.delay`, 'write it as "5m"'],
  [
    "milliseconds",
    delay(1000),
    "RD101",
    `${inBackoff}.delay`,
    'write it as "1000ms", or with the unit you mean: "1000s", "1000m"',
  ],
  [
    "seconds",
    consumer({ handlerTimeout: 30 }),
    "RD101",
    `${at}.handlerTimeout`,
    'write it as "30s", or with the unit you mean: "30ms", "30m"',
  ],
  ["a day", retry({ giveUpAfter: "1 day" }), "RD103", `${inRetry}.giveUpAfter`, 'write it as "1d"'],
  [
    "a list of them",
    backoff({ kind: "steps", delays: ["1s", "10s", "1 min", "10m"] }),
    "RD103",
    `${inBackoff}.delays[2]`,
    'write it as "1m"',
  ],
];

const shares: readonly Row[] = [
  ["a share", jitter(0.2), "RD101", `${inBackoff}.jitter`, 'write it as "20%"'],
  ["a share as a text", jitter("0.2"), "RD104", `${inBackoff}.jitter`, 'write it as "20%"'],
  ["a percentage without its sign", jitter(20), "RD101", `${inBackoff}.jitter`, 'write it as "20%"'],
  ["on, as in Celery", jitter(true), "RD101", `${inBackoff}.jitter`, 'write it as "20%"; leave jitter out for none'],
  ["beside the backoff", retry({ jitter: "20%" }), "RD102", `${inRetry}.jitter`, `move it to ${inBackoff}.jitter`],
];

const counts: readonly Row[] = [
  [
    "a typo",
    consumer({ retry: { atempts: 5, backoff: steady } }),
    "RD102",
    `${inRetry}.atempts`,
    "did you mean attempts?",
  ],
  [
    "Spring's maxAttempts",
    consumer({ retry: { maxAttempts: 5, backoff: steady } }),
    "RD102",
    `${inRetry}.maxAttempts`,
    "write attempts: 5",
  ],
  [
    "Celery's max_retries",
    consumer({ retry: { max_retries: 3, backoff: steady } }),
    "RD102",
    `${inRetry}.max_retries`,
    "write attempts: 4",
  ],
  [
    "MassTransit's retryLimit",
    consumer({ retry: { retryLimit: 3, backoff: steady } }),
    "RD102",
    `${inRetry}.retryLimit`,
    "write attempts: 4",
  ],
  [
    "SQS's maxReceiveCount",
    consumer({ retry: { maxReceiveCount: 5, backoff: steady } }),
    "RD102",
    `${inRetry}.maxReceiveCount`,
    "write attempts: 5",
  ],
  ["a text", retry({ attempts: "5" }), "RD101", `${inRetry}.attempts`, "write it as 5"],
  [
    "a number alone",
    consumer({ retry: 5 }),
    "RD101",
    inRetry,
    'write it as { attempts: 5, backoff: { kind: "constant", delay: "30s" } }',
  ],
  ["none", retry({ attempts: 0 }), "RD104", `${inRetry}.attempts`, "choose a whole number from 1 to 1000"],
  ["a count of crashes alone", consumer({ crash: 3 }), "RD101", `${at}.crash`, "write it as { deliveries: 3 }"],
  ["another word for them", consumer({ crash: { count: 3 } }), "RD102", `${at}.crash.count`, "write deliveries: 3"],
  [
    "beside the retry",
    consumer({ retry: { backoff: steady }, attempts: 5 }),
    "RD102",
    `${at}.attempts`,
    `move it to ${inRetry}.attempts`,
  ],
  ["twice", consumer({ retries: 3 }), "RD102", `${at}.retries`, `remove it: ${inRetry}.attempts is there already`],
];

const backoffs: readonly Row[] = [
  [
    "a kind alone",
    backoff("exponential"),
    "RD101",
    inBackoff,
    'write it as { kind: "exponential", first: "1s", factor: 2, max: "1m" }',
  ],
  ["a delay alone", backoff("30s"), "RD101", inBackoff, 'write it as { kind: "constant", delay: "30s" }'],
  [
    "a list",
    backoff(["1s", "10s", "1m", "10m"]),
    "RD101",
    inBackoff,
    'write it as { kind: "steps", delays: ["1s", "10s", "1m", "10m"] }',
  ],
  [
    "type in place of kind",
    backoff({ type: "exponential", first: "1s", factor: 2 }),
    "RD101",
    `${inBackoff}.kind`,
    'write kind: "exponential" instead of type',
  ],
  ["no kind", backoff({ first: "1s", factor: 2 }), "RD101", `${inBackoff}.kind`, 'add kind: "exponential"'],
  ["Spring's fixed", backoff({ kind: "fixed", delay: "1s" }), "RD101", `${inBackoff}.kind`, 'write kind: "constant"'],
  [
    "MassTransit's incremental",
    backoff({ kind: "Incremental", first: "1s" }),
    "RD101",
    `${inBackoff}.kind`,
    'write kind: "linear"',
  ],
  [
    "MassTransit's intervals",
    backoff({ kind: "intervals", delays: ["1s", "1s", "1s", "1s"] }),
    "RD101",
    `${inBackoff}.kind`,
    'write kind: "steps"',
  ],
  [
    "Spring's multiplier",
    backoff({ kind: "exponential", first: "1s", multiplier: 2 }),
    "RD102",
    `${inBackoff}.multiplier`,
    "write factor: 2",
  ],
  [
    "Spring's initialInterval",
    backoff({ kind: "exponential", initialInterval: "1 s", factor: 2 }),
    "RD102",
    `${inBackoff}.initialInterval`,
    'write first: "1s"',
  ],
  [
    "maxDelay",
    backoff({ kind: "exponential", first: "1s", factor: 2, maxDelay: "1m" }),
    "RD102",
    `${inBackoff}.maxDelay`,
    'write max: "1m"',
  ],
  ["interval", backoff({ kind: "constant", interval: "1s" }), "RD102", `${inBackoff}.interval`, 'write delay: "1s"'],
  ["no factor", backoff({ kind: "exponential", first: "1s" }), "RD101", `${inBackoff}.factor`, "add factor: 2"],
  [
    "a factor as a text",
    backoff({ kind: "exponential", first: "1s", factor: "2" }),
    "RD101",
    `${inBackoff}.factor`,
    "write it as 2",
  ],
  ["a time to retry after", retry({ retryAfter: "1m" }), "RD101", `${inRetry}.retryAfter`, 'write it as { max: "1m" }'],
  [
    "46 days",
    retry({ attempts: 22, backoff: { kind: "exponential", first: "1s", factor: 2 } }),
    "RD119",
    inBackoff,
    'add max, such as max: "1h", or giveUpAfter: "25d" if you mean it',
  ],
];

const routes: readonly Row[] = [
  ["a list of sources", consumer({ from: ["orders"] }), "RD101", `${at}.from`, 'write it as { orders: "all" }'],
  ["a source alone", consumer({ from: "orders" }), "RD101", `${at}.from`, 'write it as { orders: "all" }'],
  [
    "routing keys alone",
    consumer({ from: ["order.placed"] }),
    "RD101",
    `${at}.from`,
    'write it as { orders: ["order.placed"] }',
  ],
  ["# for everything", consumer({ from: { orders: "#" } }), "RD101", `${at}.from.orders`, 'write it as "all"'],
  [
    "one key without a list",
    consumer({ from: { orders: "order.placed" } }),
    "RD101",
    `${at}.from.orders`,
    'write it as ["order.placed"]',
  ],
  [
    "a prefix",
    consumer({ from: { orders: ["order*"] } }),
    "RD110",
    `${at}.from.orders[0]`,
    'write "order.#", or list the routing keys',
  ],
  [
    "two asterisks",
    consumer({ from: { orders: ["order.**"] } }),
    "RD110",
    `${at}.from.orders[0]`,
    'write "order.#", or list the routing keys',
  ],
  [
    "the singular",
    consumer({ from: { order: ["order.placed"] } }),
    "RD108",
    `${at}.from.order`,
    "did you mean orders?",
  ],
  [
    "bindings",
    consumer({ from: undefined, bindings: { orders: "all" } }),
    "RD102",
    `${at}.bindings`,
    'write from: { orders: "all" }',
  ],
];

const shapes: readonly Row[] = [
  [
    "consumers as a list",
    system({ consumers: [{ name: "billing", from: { orders: "all" }, retry: { attempts: 5, backoff: steady } }] }),
    "RD101",
    "consumers",
    'write it as { billing: { from: { orders: "all" }, retry: { attempts: 5, backoff: { kind: "constant", delay: "30s" } } } }',
  ],
  [
    "sources as a list",
    system({ sources: ["orders"] }),
    "RD101",
    "sources",
    'write it as { orders: { kind: "topic" } }',
  ],
  [
    "a source as a text",
    system({ sources: { orders: "topic" } }),
    "RD101",
    "sources.orders",
    'write it as { kind: "topic" }',
  ],
  [
    "type of an exchange",
    system({ sources: { orders: { type: "topic" } } }),
    "RD102",
    "sources.orders.type",
    'write kind: "topic"',
  ],
  [
    "exchanges",
    { ...oneConsumer({}, { sources: undefined }), exchanges: { orders: { kind: "topic" } } },
    "RD102",
    "exchanges",
    'write sources: { orders: { kind: "topic" } }',
  ],
  [
    "the exchange of a source",
    system({ sources: { orders: { kind: "topic", exchange: "events" } } }),
    "RD102",
    "sources.orders.exchange",
    'write name: "events"',
  ],
  [
    "the target in the declaration",
    system({ target: "rabbitmq@4.3" }),
    "RD102",
    "target",
    "remove it: a command takes it as --target, and a component as target",
  ],
  [
    "the arguments of a queue",
    consumer({ arguments: { singleActiveConsumer: true } }),
    "RD102",
    `${at}.arguments`,
    "write queueArguments: { singleActiveConsumer: true }",
  ],
  ...(
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
      [
        "x-queue-type",
        "classic",
        "remove it: work queues are quorum queues, because a classic queue can lose messages",
      ],
      ["x-message-ttl", 60_000, "remove it: a time to live would end messages that nobody has tried"],
    ] as const
  ).map(([key, value, fix]): Row => [
    `${key} of a queue`,
    consumer({ queueArguments: { [key]: value } }),
    "RD102",
    `${at}.queueArguments.${key}`,
    fix,
  ]),
  ["prefetch", consumer({ prefetch: 5 }), "RD102", `${at}.prefetch`, "remove it: concurrency is an option of consume"],
  ["timeout", consumer({ timeout: "30s" }), "RD102", `${at}.timeout`, 'write handlerTimeout: "30s"'],
  [
    "errors as a list",
    consumer({ errors: ["ValidationError"] }),
    "RD101",
    `${at}.errors`,
    'write it as { permanent: ["ValidationError"] }',
  ],
  [
    "one error without a list",
    consumer({ errors: { permanent: "ValidationError" } }),
    "RD101",
    `${at}.errors.permanent`,
    'write it as ["ValidationError"]',
  ],
  [
    "MassTransit's ignore",
    consumer({ errors: { ignore: ["ValidationError"] } }),
    "RD102",
    `${at}.errors.ignore`,
    'write permanent: ["ValidationError"]',
  ],
  [
    "errors to retry",
    consumer({ errors: { permanent: ["X"], transient: ["Y"] } }),
    "RD102",
    `${at}.errors.transient`,
    "remove it: every error that permanent does not list is transient",
  ],
  ["dlq", consumer({ dlq: { retain: "7d" } }), "RD102", `${at}.dlq`, 'write deadLetter: { retain: "7d" }'],
  [
    "a time to live of dead letters",
    consumer({ deadLetter: { ttl: "7d" } }),
    "RD102",
    `${at}.deadLetter.ttl`,
    'write retain: "7d"',
  ],
  [
    "an alarm as a text",
    consumer({ deadLetter: { alarmAbove: "10" } }),
    "RD101",
    `${at}.deadLetter.alarmAbove`,
    "write it as 10",
  ],
  [
    "a broadcast",
    consumer({ delivery: "broadcast", retry: undefined }),
    "RD101",
    `${at}.delivery`,
    'write it as "every-instance"',
  ],
  ["FIFO", consumer({ order: "fifo" }), "RD101", `${at}.order`, 'write it as "per-key"'],
  ["a protocol's number", consumer({ protocol: "1.0" }), "RD101", `${at}.protocol`, 'write it as "amqp-1.0"'],
  ["a name that is a number", system({ name: 5 }), "RD101", "name", 'write it as "5"'],
];

/** Mistakes in declarations. */
export const naturalMistakes: readonly Row[] = [durations, shares, counts, backoffs, routes, shapes].flat();
