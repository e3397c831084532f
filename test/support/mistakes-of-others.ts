import { oneConsumer } from "./examples.ts";
import { type Row, aRetry, backoff, consumer, from, retry, steady, system, uncounted } from "./natural-mistakes.ts";

// More mistakes of people who know Spring Boot, Temporal, BullMQ, NestJS, Celery, SQS or Service Bus.

const limits: readonly Row[] = [
  ...["forever", "never", "unlimited", Infinity, null, -1].map((retain) =>
    consumer(
      `dead letters kept ${retain}`,
      { deadLetter: { retain } },
      typeof retain === "string" ? "RD103" : "RD101",
      "deadLetter.retain",
      "remove it: the default is as long as the broker keeps them",
    ),
  ),
  ...["infinite", "unlimited", "forever", Infinity, -1].map((attempts) =>
    retry(
      `attempts ${attempts}`,
      { attempts },
      attempts === -1 ? "RD104" : "RD101",
      "attempts",
      "write it as 1000, the most",
    ),
  ),
  consumer(
    "endless crashes",
    { crash: { deliveries: "unlimited" } },
    "RD101",
    "crash.deliveries",
    "write it as 1000, the most",
  ),
  consumer("no crashes", { crash: false }, "RD101", "crash", "remove it: the default is the number of attempts"),
  ...[0, "none"].map((handlerTimeout) =>
    consumer(
      `no timeout as ${handlerTimeout}`,
      { handlerTimeout },
      handlerTimeout === 0 ? "RD101" : "RD103",
      "handlerTimeout",
      "remove it: the default is no limit",
    ),
  ),
  consumer(
    "no alarm",
    { deadLetter: { alarmAbove: "never" } },
    "RD101",
    "deadLetter.alarmAbove",
    "remove it: the default is no alarm",
  ),
  backoff("no jitter", { ...steady, jitter: false }, "RD101", "jitter", "remove it: the default is none"),
  backoff("full jitter", { ...steady, jitter: "full" }, "RD104", "jitter", 'write it as "100%"'),
];

const wholeBackoffs: readonly Row[] = [
  ...(
    [
      ["nested", { exponential: { first: "1s", factor: 2 } }, '{ kind: "exponential", first: "1s", factor: 2 }'],
      ["nested without a factor", { exponential: { first: "1s" } }, '{ kind: "exponential", first: "1s", factor: 2 }'],
      ["a nested delay", { constant: "30s" }, '{ kind: "constant", delay: "30s" }'],
      ["nested steps", { steps: ["1s", "1s", "1s", "1s"] }, '{ kind: "steps", delays: ["1s", "1s", "1s", "1s"] }'],
      [
        "BullMQ's",
        { type: "exponential", delay: 1000 },
        '{ kind: "exponential", first: "1000ms", factor: 2 }, or with the unit you mean',
      ],
      [
        "Spring's",
        { initialInterval: "1s", multiplier: 3, maxInterval: "1m" },
        '{ kind: "exponential", first: "1s", factor: 3, max: "1m" }',
      ],
      [
        "Polly's",
        { kind: "decorrelated-jitter", base: "1s", cap: "1m" },
        '{ kind: "exponential", first: "1s", factor: 2, max: "1m" }',
      ],
      ["a number", 30, '{ kind: "constant", delay: "30s" }, or with the unit you mean'],
      ["off", false, '{ kind: "immediate" }'],
      ["a called", "exponential(1s, 2)", '{ kind: "exponential", first: "1s", factor: 2 }'],
      ["called steps", "steps(1s, 1s, 1s, 1s)", '{ kind: "steps", delays: ["1s", "1s", "1s", "1s"] }'],
      ["a named", 'exponential({ first: "1s" })', '{ kind: "exponential", first: "1s", factor: 2 }'],
      ["a number in a call", "constant(30)", '{ kind: "constant", delay: "30s" }, or with the unit you mean'],
    ] as const
  ).map(([mistake, value, right]) => backoff(`${mistake} backoff`, value, "RD101", "", `write it as ${right}`)),
  backoff(
    "numbers as steps",
    { kind: "steps", delays: [1, 10, 60, 600] },
    "RD101",
    "delays",
    'write it as ["1s", "10s", "60s", "600s"], or with the unit you mean',
  ),
  ...(
    [
      [
        "Spring Boot's",
        { initialInterval: "1s", multiplier: 2, maxInterval: "1m" },
        "initialInterval, multiplier and maxInterval",
      ],
      [
        "Temporal's",
        { initialInterval: "1s", backoffCoefficient: 2, maximumInterval: "1m" },
        "initialInterval, backoffCoefficient and maximumInterval",
      ],
      ["that of retry in npm", { minTimeout: "1s", factor: 2, maxTimeout: "1m" }, "minTimeout, factor and maxTimeout"],
    ] as const
  ).map(([mistake, keys, instead]) =>
    consumer(
      `${mistake} retry`,
      { retry: { attempts: 5, ...keys } },
      "RD102",
      `retry.${Object.keys(keys)[0]}`,
      `write backoff: { kind: "exponential", first: "1s", factor: 2, max: "1m" } instead of ${instead}`,
    ),
  ),
  consumer(
    "Celery's delay",
    { retry: { attempts: 5, default_retry_delay: 30 } },
    "RD102",
    "retry.default_retry_delay",
    'write backoff: { kind: "constant", delay: "30s" }, or with the unit you mean',
  ),
  uncounted("NServiceBus's numberOfRetries", { numberOfRetries: 3 }, "RD102", "numberOfRetries", "write attempts: 4"),
  consumer(
    "SQS's redrive policy",
    { retry: undefined, redrivePolicy: { maxReceiveCount: 5, deadLetterTargetArn: "arn:aws:sqs:eu-west-1:1:dead" } },
    "RD102",
    "redrivePolicy",
    `write retry: ${aRetry}`,
  ),
];

const immediate = { numberOfRetries: 3 };
const delayed = { numberOfRetries: 2, timeIncrease: "10s" };
const levels = '{ attempts: 3, backoff: { kind: "linear", first: "10s" } }';
const instead = `write retry: ${levels} instead of immediate and delayed`;

/** The two levels of NServiceBus. */
const nserviceBus: readonly Row[] = [
  consumer("NServiceBus's levels", { retry: { immediate, delayed } }, "RD101", "retry", `write it as ${levels}`),
  consumer(
    "NServiceBus's levels with attempts",
    { retry: { attempts: 4, immediate, delayed, giveUpAfter: "1h" } },
    "RD101",
    "retry",
    'write it as { attempts: 4, backoff: { kind: "linear", first: "10s" }, giveUpAfter: "1h" }',
  ),
  consumer(
    "NServiceBus's recoverability",
    { retry: undefined, recoverability: { immediate, delayed } },
    "RD102",
    "recoverability",
    `write retry: ${levels}`,
  ),
  consumer("NServiceBus's levels alone", { retry: undefined, immediate, delayed }, "RD102", "immediate", instead),
  consumer(
    "NServiceBus's levels as counts",
    { retry: { immediateRetries: 3, delayedRetries: 2 } },
    "RD101",
    "retry",
    `write it as ${levels}`,
  ),
  consumer(
    "one level of NServiceBus with its defaults",
    { retry: { immediate: {} } },
    "RD101",
    "retry",
    'write it as { attempts: 6, backoff: { kind: "immediate" } }',
  ),
  consumer(
    "NServiceBus's increase as a TimeSpan",
    { retry: { immediate: { numberOfRetries: 0 }, delayed: { timeIncrease: "00:00:05" } } },
    "RD101",
    "retry",
    'write it as { attempts: 4, backoff: { kind: "linear", first: "5s" } }',
  ),
  consumer(
    "NServiceBus's increase as a number",
    { retry: { delayed: { timeIncrease: 5 } } },
    "RD101",
    "retry",
    'write it as { attempts: 4, backoff: { kind: "linear", first: "5s" } }, or with the unit you mean',
  ),
];

const noTransient = "remove it: every error that permanent does not list is transient";
const noStatus = "remove it: only the handler knows the status";

/** Errors with a verdict each, and statuses of HTTP. */
const errors: readonly Row[] = (
  [
    ["an error with its verdict", { SomeError: "permanent" }, 'write it as { permanent: ["SomeError"] }'],
    ["two verdicts", { A: "fatal", B: "transient" }, 'write it as { permanent: ["A"] }'],
    ["a verdict beside the list", { permanent: ["A"], B: "dead-letter" }, 'write it as { permanent: ["A", "B"] }'],
    ["no permanent error", { Timeout: "retry" }, noTransient],
    ["errors to retry", { retry: ["TimeoutError"] }, noTransient],
    ["errors to retry and others", { permanent: ["A"], retryable: ["B"] }, 'write it as { permanent: ["A"] }'],
    ["statuses as numbers", { permanent: [404, 422] }, noStatus],
    ["a status as a text", { permanent: ["404"] }, noStatus],
    ["a class of statuses", { fatal: ["4xx"] }, noStatus],
    ["statuses in a list", [404, "ValidationError"], 'write it as { permanent: ["ValidationError"] }'],
    ["a status with its verdict", { 404: "permanent", A: "permanent" }, 'write it as { permanent: ["A"] }'],
  ] as const
).map(([mistake, value, fix]) => consumer(mistake, { errors: value }, "RD101", "errors", fix));

const around: readonly Row[] = [
  ["a system around it", { system: oneConsumer() }, "RD102", "system", "move its keys to the top"],
  [
    "its name around it",
    { shop: oneConsumer({}, { name: undefined }) },
    "RD102",
    "shop",
    'move its keys to the top, and add name: "shop"',
  ],
  [
    "Kubernetes",
    { apiVersion: "v1", kind: "System", metadata: { name: "shop" }, spec: oneConsumer({}, { name: undefined }) },
    "RD102",
    "spec",
    'move its keys to the top, and add name: "shop" instead of apiVersion, kind and metadata',
  ],
  system(
    "a retry for all",
    { consumers: { a: {}, b: {} }, retry: { attempts: 5, backoff: steady } },
    "RD102",
    "retry",
    "move it into consumers.a and consumers.b",
  ),
  system(
    "defaults",
    { consumers: { a: {}, b: {} }, defaults: { retry: { attempts: 5, backoff: steady } } },
    "RD102",
    "defaults",
    "move its keys into consumers.a and consumers.b",
  ),
  system(
    "an environment",
    { env: "prod" },
    "RD102",
    "env",
    "remove it: one declaration serves every environment, and each has its own target",
  ),
  system(
    "the ARN of a topic",
    { sources: { orders: "arn:aws:sns:eu-west-1:123456789012:orders" } },
    "RD101",
    "sources.orders",
    'write it as { kind: "topic", name: "arn:aws:sns:eu-west-1:123456789012:orders", owner: "other" }',
  ),
  system(
    "SNS as a kind",
    { sources: { orders: { kind: "sns" } } },
    "RD101",
    "sources.orders.kind",
    'write it as "topic"',
  ),
  system(
    "a durable source",
    { sources: { orders: { kind: "topic", durable: true } } },
    "RD102",
    "sources.orders.durable",
    "remove it: sources and work queues always stay",
  ),
];

const settings: readonly Row[] = [
  ...[
    ["visibilityTimeout", 30, 'write handlerTimeout: "30s", or with the unit you mean: "30ms", "30m"'],
    ["lockDuration", "PT1M", 'write handlerTimeout: "1m"'],
    ["fifoQueue", true, 'write order: "per-key"'],
    ["requiresSession", true, 'write order: "per-key"'],
    ["acks_late", true, "remove it: consume acknowledges a message after its handler"],
    ["noAck", false, "remove it: consume acknowledges a message after its handler"],
    ["handler", "./billing.ts", "remove it: the handler is an argument of consume"],
    ["circuitBreaker", { threshold: 5 }, "remove it: breaker is an option of consume"],
    ["rateLimit", 10, "remove it: concurrency is an option of consume"],
    ["delaySeconds", 30, "remove it: a message is due at once, and retry.backoff delays its next attempts"],
    ["receiveWaitTimeSeconds", 20, "remove it: consume chooses how long a poll waits"],
    ["contentBasedDeduplication", true, "remove it: once() of redeliver/consume handles a message only once"],
    [
      "messageRetentionPeriod",
      1_209_600,
      "remove it: a work queue keeps messages as long as it can; deadLetter.retain is for the dead queue",
    ],
    ["defaultMessageTimeToLive", "P14D", "remove it: a time to live would end messages that nobody has tried"],
    ["deadLetterRoutingKey", "dead", "remove it: Redeliver makes the way to the dead queue"],
    ["exclusive", true, "write queueArguments: { singleActiveConsumer: true }"],
    ["exclusive", false, "remove it: sources and work queues always stay"],
    ["x-team", "billing", "move it to x-team"],
  ].map(([key, value, fix]) => consumer(String(key), { [String(key)]: value }, "RD102", String(key), String(fix))),
  consumer("redrives", { deadLetter: { maxRedrives: 2 } }, "RD102", "deadLetter.maxRedrives", "write generations: 2"),
  consumer(
    "a dead queue switched on",
    { deadLetter: true },
    "RD101",
    "deadLetter",
    "remove it: a work queue has a dead queue",
  ),
  consumer(
    "a retention in seconds",
    { deadLetter: { retain: 1_209_600 } },
    "RD101",
    "deadLetter.retain",
    'write it as "1209600s", or with the unit you mean: "1209600ms", "1209600m"',
  ),
];

const bindings: readonly Row[] = [
  ...(
    [
      ["a binding", { source: "orders", routingKey: "order.placed" }, '{ orders: ["order.placed"] }'],
      ["a binding with keys", { exchange: "orders", routingKeys: ["a", "b"] }, '{ orders: ["a", "b"] }'],
      ["a topic", { topic: "orders" }, '{ orders: "all" }'],
      ["bindings in a list", [{ source: "orders", routingKey: "order.placed" }], '{ orders: ["order.placed"] }'],
    ] as const
  ).map(([mistake, value, right]) => from(mistake, value, "RD101", "from", `write it as ${right}`)),
  from(
    "a routing key in a mapping",
    { orders: { routingKey: "order.placed" } },
    "RD101",
    "from.orders",
    'write it as ["order.placed"]',
  ),
  from("nothing after the colon", { orders: null }, "RD101", "from.orders", 'write it as "all"'),
  consumer(
    "NestJS's pattern",
    { from: undefined, pattern: "order.placed" },
    "RD102",
    "pattern",
    'write from: { orders: ["order.placed"] }',
  ),
  consumer(
    "an exchange and its key",
    { from: undefined, exchange: "orders", routingKey: "order.placed" },
    "RD102",
    "exchange",
    'write from: { orders: ["order.placed"] } instead of exchange and routingKey',
  ),
];

/** An answer that the schema takes may still mean something else. These meant something else once. */
const misread: readonly Row[] = [
  from("a source without its last letter", "order", "RD101", "from", 'write it as { orders: "all" }'),
  from(
    "a routing key beside its source",
    { orders: "all", routingKey: "order.placed" },
    "RD101",
    "from",
    'write it as { orders: ["order.placed"] }',
  ),
  system(
    "a source whose kind is not indented",
    { sources: { orders: null, kind: "topic" } },
    "RD101",
    "sources.orders",
    'write orders: { kind: "topic" } instead of kind',
  ),
  consumer(
    "a retry whose keys are not indented",
    { retry: null, attempts: 5, backoff: { kind: "constant", delay: "30s" } },
    "RD101",
    "retry",
    `write retry: ${aRetry} instead of attempts and backoff`,
  ),
  consumer(
    "a limit of the dead queue",
    { deadLetter: { maxLength: 1_000 } },
    "RD102",
    "deadLetter.maxLength",
    "remove it: only a work queue may have a limit, because a full dead queue loses letters",
  ),
  consumer(
    "an exchange of the dead queue",
    { deadLetter: { exchange: "dlx" } },
    "RD102",
    "deadLetter.exchange",
    "remove it: Redeliver makes the exchanges between the queues of a consumer",
  ),
  consumer(
    "two lists of permanent errors",
    { errors: { permanent: ["A"], fatal: ["B"] } },
    "RD102",
    "errors.fatal",
    'write permanent: ["A", "B"] instead of permanent',
  ),
  from("a wildcard of NATS", { orders: ["order.>"] }, "RD110", "from.orders[0]", 'write "order.#"'),
  consumer("a queue as a mapping", { queue: { name: "q" } }, "RD101", "queue", 'write it as "q"'),
];

/** Mistakes with the settings of other systems, each in a declaration that is otherwise right. */
export const mistakesOfOthers: readonly Row[] = [
  limits,
  wholeBackoffs,
  bindings,
  misread,
  around,
  settings,
  nserviceBus,
  errors,
].flat();
