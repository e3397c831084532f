import type { PathSegment } from "../diagnostics/diagnostic.ts";

/**
 * The words of other systems for the keys and the values of a declaration, without capitals and separators. Sources:
 * Spring Retry and Spring AMQP, MassTransit, NServiceBus, Celery, Symfony Messenger, BullMQ, and the brokers' own.
 */
const otherWords: Readonly<Record<string, string>> = {
  sources: "exchanges topics publishers producers",
  consumers: "queues handlers listeners subscribers workers subscriptions",
  name: "exchange exchangename topic topicname system service application app",
  queue: "queuename",
  queueArguments: "arguments args queueargs xarguments declareargs",
  singleActiveConsumer: "xsingleactiveconsumer exclusiveconsumer activeconsumer sac",
  maxLength: "xmaxlength maxlen",
  maxLengthBytes: "xmaxlengthbytes maxbytes",
  consumerTimeout: "xconsumertimeout deliverytimeout",
  queueLeaderLocator: "xqueueleaderlocator leaderlocator masterlocator queuemasterlocator xqueuemasterlocator",
  quorumInitialGroupSize: "xquoruminitialgroupsize initialgroupsize groupsize replicas quorumsize",
  kind: "type exchangetype strategy policy",
  owner: "external passive existing",
  from: "bindings bind subscribe subscriptions source topics routingkeys routingkey",
  retry: "retrypolicy retries redelivery",
  attempts:
    "maxattempts maxtries tries maxreceivecount maxdeliverycount maxretries retries retrycount retrylimit maxretry numretries",
  backoff: "backoffpolicy intervals schedule constant fixed linear exponential exponentialbackoff",
  first: "initial initialinterval initialdelay mininterval mindelay minbackoff minimum start base interval delay",
  step: "increment intervalincrement intervaldelta",
  factor: "multiplier exponent coefficient base ratio",
  max: "maxinterval maxdelay maxbackoff retrybackoffmax maximum cap limit",
  delay: "interval wait period duration backoff countdown defaultretrydelay first initialinterval initialdelay",
  delays: "steps intervals waits delay",
  jitter: "random randomize randomization randomizationfactor retryjitter",
  giveUpAfter: "deadline timelimit maxduration maxelapsedtime expires",
  deliveries: "count attempts max limit maxdeliveries",
  crash: "poison deliverylimit",
  handlerTimeout: "timeout visibilitytimeout timelimit ackwait lockduration consumertimeout",
  permanent:
    "fatal ignore ignored notretryfor exclude noretryfor nonretryable nonretryableerrors nonretryableexceptions unrecoverable",
  deadLetter: "dlq deadletterqueue dlx deadletterexchange errorqueue dead",
  retain: "ttl retention messageretention messagettl expires",
  alarmAbove: "alarm threshold alert alarmthreshold",
  delivery: "mode deliverymode",
  order: "ordering ordered fifo sessions",
  protocol: "amqp",
  "work-queue": "queue shared competing workqueue",
  "every-instance": "broadcast all fanout pubsub everyinstance each",
  "per-key": "true fifo key perkey strict session",
  "amqp-0-9-1": "amqp091 091 amqp",
  "amqp-1.0": "amqp10 10 1",
  immediate: "none zero",
  constant: "fixed interval fixeddelay",
  linear: "incremental increment",
  exponential: "exp exponentialbackoff double",
  steps: "intervals list custom schedule",
  other: "true external",
};

/** Keys of other systems that count the runs after the first one. */
const countsRetries = /^(max|num)?retr(y|ies)(count|limit)?$/;

/** Keys that belong elsewhere than in a declaration, and their place. */
const elsewhere: readonly (readonly [RegExp, string])[] = [
  [
    /^(targets?|brokers?|strategy|strategies|region)$/,
    "remove it: a command takes it as --target, and a component as target",
  ],
  [/^(prefetch|concurrency|concurrent|maxconcurren)/, "remove it: concurrency is an option of consume"],
  [/^(url|host|connection|username|password)$/, "remove it: connection is an option of consume"],
  [
    /^(transient|retryon|retryfor|autoretryfor|include|handle)$/,
    "remove it: every error that permanent does not list is transient",
  ],
  [/^queue(name)?$/, "remove it: queue is a key of a consumer, and names its work queue"],
  [
    /^(x?maxpriority|priority|priorities)$/,
    "remove it: work queues are quorum queues, which have priorities from 4.0 on without an argument",
  ],
  [/^x?overflow(behaviou?r)?$/, "remove it: a full queue refuses messages, because every other way loses some"],
  [/^x?queuetype$/, "remove it: work queues are quorum queues, because a classic queue can lose messages"],
  [/^x?messagettl$/, "remove it: a time to live would end messages that nobody has tried"],
  [/^version$/, "remove it: a declaration has no version"],
];

/** The word without capitals and separators. */
function simple(word: unknown): string {
  return String(word)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");
}

/** The unit at the end of a key, as in `delayMs` and `delaySeconds`. */
const unitAtEnd = /(?:ms|millis|milliseconds|secs?|seconds|mins?|minutes|hours|days)$/;

export function unitOf(key: string): string {
  return unitAtEnd.exec(simple(key))?.[0] ?? "";
}

/** The first of the known words that means the same as a word of another system, or differs only in its spelling. */
export function ownWord(word: unknown, known: readonly string[]): string | undefined {
  if (typeof word === "object") return undefined;
  const whole = simple(word);
  for (const given of [whole, whole.replace(unitAtEnd, "")]) {
    const own =
      known.find((each) => simple(each) === given) ??
      known.find((each) => otherWords[each]?.split(" ").includes(given) === true);
    if (own !== undefined) return own;
  }
  return undefined;
}

export function isCountOfRetries(key: string): boolean {
  return countsRetries.test(simple(key));
}

/** The edit for a key that has no place in a declaration. */
export function placeElsewhere(key: string): string | undefined {
  return elsewhere.find(([words]) => words.test(simple(key)))?.[1];
}

/** True for the name of a dead queue where its consumer is declared. A template at the top is the only place for it. */
export function isNameOfDeadQueue([kind, , field, key]: readonly PathSegment[], value: unknown): boolean {
  if (kind !== "consumers" || typeof value !== "string" || ownWord(field, ["deadLetter"]) === undefined) return false;
  return key === undefined ? !/^P?\d/.test(value) : ownWord(key, ["name", "queue", "deadLetter"]) !== undefined;
}
