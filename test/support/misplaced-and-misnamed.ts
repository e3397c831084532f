import { oneConsumer } from "./examples.ts";
import type { Row } from "./natural-mistakes.ts";

const steady = { kind: "constant", delay: "30s" };
const consumer = oneConsumer;
const system = (fields: Record<string, unknown>): unknown => oneConsumer({}, fields);
const retry = (fields: object): unknown => oneConsumer({ retry: { attempts: 3, backoff: steady, ...fields } });
const backoff = (fields: object): unknown => retry({ backoff: fields });
const at = "consumers.billing";
const inRetry = `${at}.retry`;
const inBackoff = `${inRetry}.backoff`;
const hasDead = "remove it: a work queue has a dead queue";
const start = 'start with { "name": "shop", "sources": { … }, "consumers": { … } }';
const billing =
  'write for example billing: { from: { orders: "all" }, retry: { attempts: 5, backoff: { kind: "constant", delay: "30s" } } }';
const noQueue = "remove it: queue is a key of a consumer, and names its work queue";
const forQueue = 'write for example queue: "q-{consumer}"';
const own = "rename it to x-defaults if it is yours, or remove it";

/** Words in a place that is not theirs. */
const misplaced: readonly Row[] = [
  [
    "the name of the dead queue",
    consumer({ deadLetter: { name: "dlq" } }),
    "RD102",
    `${at}.deadLetter.name`,
    'write queue: "dlq"',
  ],
  [
    "the dead queue as a text",
    consumer({ deadLetter: "dlq" }),
    "RD101",
    `${at}.deadLetter`,
    'write it as { queue: "dlq" }',
  ],
  ["a dlq as a text", consumer({ dlq: "dlq" }), "RD102", `${at}.dlq`, 'write deadLetter: { queue: "dlq" }'],
  ["a dlq with its name", consumer({ dlq: { name: "q" } }), "RD102", `${at}.dlq`, 'write deadLetter: { queue: "q" }'],
  [
    "a dead queue with its name and a time",
    consumer({ deadLetterQueue: { queue: "dlq", ttl: "7d" } }),
    "RD102",
    `${at}.deadLetterQueue`,
    'write deadLetter: { queue: "dlq", retain: "7d" }',
  ],
  [
    "a dlq beside a time",
    consumer({ deadLetter: { queue: { name: "dlq" }, retain: "7d" } }),
    "RD101",
    `${at}.deadLetter.queue`,
    'write it as "dlq"',
  ],
  ["no dead queue", consumer({ deadLetter: "none" }), "RD101", `${at}.deadLetter`, hasDead],
  [
    "dead letters kept for an odd time",
    consumer({ deadLetter: "1 fortnight" }),
    "RD101",
    `${at}.deadLetter`,
    'write for example deadLetter: { retain: "7d" }',
  ],
  ["a dlq switched on", consumer({ dlq: true }), "RD102", `${at}.dlq`, hasDead],
  ["a dlq that is a time", consumer({ dlq: "7d" }), "RD102", `${at}.dlq`, 'write deadLetter: { retain: "7d" }'],
  ["a limit of dead letters", oneConsumer({ deadLetter: { max: 100 } }), "RD102", `${at}.deadLetter.max`, "remove it"],
  ["a max of a constant backoff", retry({ max: "1m" }), "RD102", `${inRetry}.max`, "remove it"],
  [
    "errors to retry on",
    retry({ on: ["TimeoutError"] }),
    "RD102",
    `${inRetry}.on`,
    "remove it: every error that permanent does not list is transient",
  ],
  [
    "sources to subscribe on",
    consumer({ from: undefined, on: { orders: ["order.placed"] } }),
    "RD102",
    `${at}.on`,
    'write from: { orders: ["order.placed"] }',
  ],
  ["the queue of retries", retry({ queue: "billing.retry" }), "RD102", `${inRetry}.queue`, noQueue],
  [
    "a delay without its backoff",
    consumer({ retry: { attempts: 3, delay: "10s" } }),
    "RD102",
    `${inRetry}.delay`,
    'write backoff: { kind: "constant", delay: "10s" }',
  ],
  [
    "attempts without their retry",
    consumer({ retry: undefined, attempts: 3 }),
    "RD102",
    `${at}.attempts`,
    'write retry: { attempts: 3, backoff: { kind: "constant", delay: "30s" } }',
  ],
  [
    "sources that are not indented",
    system({ sources: null, orders: { kind: "topic" } }),
    "RD101",
    "sources",
    'write sources: { orders: { kind: "topic" } } instead of orders',
  ],
  [
    "consumers that are not indented",
    system({ consumers: null, billing: { retry: { attempts: 1, backoff: { kind: "immediate" } } } }),
    "RD101",
    "consumers",
    'write consumers: { billing: { retry: { attempts: 1, backoff: { kind: "immediate" } } } } instead of billing',
  ],
  [
    "a backoff that is not indented",
    retry({ backoff: null, ...steady }),
    "RD101",
    `${inRetry}.backoff`,
    'write backoff: { kind: "constant", delay: "30s" } instead of kind and delay',
  ],
  ["a system's name", system({ name: undefined, system: "shop" }), "RD102", "system", 'write name: "shop"'],
  ["a part of one's own", system({ defaults: { attempts: 3 } }), "RD102", "defaults", own],
];

/** Templates for names, and values where a mapping belongs. */
const misnamed: readonly Row[] = [
  ["a placeholder of others", system({ names: { queue: "{name}.{consumer}" } }), "RD111", "names.queue", forQueue],
  ["an open brace", system({ names: { queue: "{consumer" } }), "RD111", "names.queue", forQueue],
  ["the plural", system({ names: { dead: "dlq.{consumers}" } }), "RD111", "names.dead", 'write it as "dlq.{consumer}"'],
  ["double braces", system({ names: { queue: "{{consumer}}" } }), "RD111", "names.queue", 'write it as "{consumer}"'],
  [
    "a name for dead letters",
    system({ names: { deadLetter: "{consumer}.dlq" } }),
    "RD102",
    "names.deadLetter",
    'write dead: "{consumer}.dlq"',
  ],
  [
    "a team as the owner",
    system({ sources: { orders: { kind: "topic", owner: "team" } } }),
    "RD101",
    "sources.orders.owner",
    'write it as "other"',
  ],
  ["a number as the whole file", 5, "RD101", "", start],
  ["a word as the whole file", "hello", "RD101", "", start],
  ["nothing as the whole file", undefined, "RD101", "", start],
  ["an empty consumer", system({ consumers: { billing: null } }), "RD101", at, billing],
  [
    "an empty source",
    system({ sources: { orders: null } }),
    "RD101",
    "sources.orders",
    'write for example orders: { kind: "topic" }',
  ],
];

/** Numbers that do not fit together. */
const unfit: readonly Row[] = [
  [
    "no delay",
    backoff({ kind: "constant", delay: "0s" }),
    "RD105",
    `${inBackoff}.delay`,
    'choose at least 1ms, or backoff: { kind: "immediate" } for no delay',
  ],
  [
    "a max below the first delay",
    backoff({ kind: "linear", first: "10s", max: "1s" }),
    "RD106",
    `${inBackoff}.max`,
    'set max to 10s or more, or write backoff: { kind: "constant", delay: "1s" }',
  ],
  [
    "eleven years",
    retry({ attempts: 1_000, backoff: { kind: "constant", delay: "4d" } }),
    "RD119",
    inBackoff,
    "use fewer attempts",
  ],
  [
    "weeks with jitter",
    backoff({ kind: "constant", delay: "10d", jitter: "50%" }),
    "RD119",
    inBackoff,
    'use fewer attempts, or giveUpAfter: "30d" if you mean it',
  ],
  [
    "a limit below the first delay",
    retry({ giveUpAfter: "5s" }),
    "RD120",
    `${inRetry}.giveUpAfter`,
    "set attempts to 1, or giveUpAfter to 1m or more",
  ],
  [
    "a limit below the second step",
    retry({ backoff: { kind: "steps", delays: ["1s", "1m"] }, giveUpAfter: "30s" }),
    "RD120",
    `${inRetry}.giveUpAfter`,
    "set attempts to 2 and leave out the later delays, or giveUpAfter to 61s or more",
  ],
];

/** Mistakes about the place of a word, about a name, and about numbers that do not fit together. */
export const misplacedAndMisnamed: readonly Row[] = [misplaced, misnamed, unfit].flat();
