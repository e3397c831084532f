/**
 * The words of other systems for the keys and the values of a declaration, without capitals and separators. Sources:
 * Spring Retry and Spring AMQP, MassTransit, NServiceBus, Celery, Symfony Messenger, BullMQ, and the brokers' own.
 */
const otherWords: Readonly<Record<string, string>> = {
  sources: "exchanges topics publishers producers",
  consumers: "queues handlers listeners subscribers workers subscriptions",
  name: "exchange exchangename topic topicname system service application app",
  queue: "queuename name",
  queueArguments: "arguments args queueargs xarguments declareargs",
  queueSettings: "settings",
  singleActiveConsumer: "xsingleactiveconsumer exclusiveconsumer activeconsumer sac",
  maxLength: "xmaxlength maxlen",
  maxLengthBytes: "xmaxlengthbytes maxbytes",
  consumerTimeout: "xconsumertimeout deliverytimeout",
  queueLeaderLocator: "xqueueleaderlocator leaderlocator masterlocator queuemasterlocator xqueuemasterlocator",
  quorumInitialGroupSize: "xquoruminitialgroupsize initialgroupsize groupsize replicas quorumsize",
  kind: "type exchangetype strategy policy",
  owner: "external passive existing",
  from: "on exchange exchangename bindings bind subscribe subscriptions source topics routingkeys routingkey pattern patterns eventpattern messagepattern topicname",
  retry:
    "retrypolicy retries redelivery redrivepolicy recoverability messageretry usemessageretry usedelayedredelivery retryoptions retrytemplate",
  attempts:
    "maxattempts maxtries tries times maxreceivecount maxdeliverycount maxretries retries retrycount retrylimit maxretry numretries maximumattempts numberofretries immediateretries delayedretries",
  backoff:
    "backoffpolicy intervals schedule constant fixed linear exponential exponentialbackoff interval delay retrydelay defaultretrydelay retrybackoff wait",
  first:
    "initial initialinterval initialdelay mininterval mindelay minbackoff mintimeout minimum start base interval delay",
  step: "increment intervalincrement intervaldelta",
  factor: "rate multiplier exponent coefficient backoffcoefficient backoffmultiplier base ratio",
  max: "maxinterval maximuminterval maxdelay maxbackoff maxtimeout retrybackoffmax maximum cap limit",
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
  retain: "ttl retention messageretention messagettl expires messageretentionperiod",
  alarmAbove: "alarm threshold alert alarmthreshold",
  delivery: "mode deliverymode",
  order: "ordering ordered fifo sessions fifoqueue requiressession requiressessions sessionenabled",
  protocol: "amqp",
  "work-queue": "queue shared competing workqueue atleastonce",
  "every-instance": "broadcast all fanout pubsub everyinstance each",
  "per-key": "true fifo key perkey strict session",
  "amqp-0-9-1": "amqp091 091 amqp",
  "amqp-1.0": "amqp10 10 1",
  immediate: "none zero 0 false",
  constant: "fixed interval fixeddelay",
  linear: "incremental increment",
  exponential: "exp exponentialbackoff double decorrelatedjitter fibonacci",
  steps: "intervals list custom schedule",
  other: "true external foreign shared theirs team",
  topic: "sns snstopic exchange xdelayedmessage servicebustopic eventbus",
  dead: "deadletter deadletters deadletterqueue dlq dlx errorqueue",
  generations: "maxredrives redrives maxredrivecount resends replays",
};

/** Keys of other systems that count the runs after the first one. */
const countsRetries = /^(max|num|numberof|immediate|delayed)?retr(y|ies)(count|limit)?$/;

/** Patterns of keys that have no place in a declaration, each with the reason. The first that matches counts. */
const elsewhere = String.raw`
(targets?|brokers?|strategy|strategies|region)$: a command takes it as --target, and a component as target
(prefetch|concurren|maxconcurren|ratelimit|limiter|instances|workers$|threads): concurrency is an option of consume
(url|host|connection|username|password)$: connection is an option of consume
(vhost|virtualhost)$: the virtual host is part of the connection
(handler|process|processor|callback|onmessage|function|lambda)$: the handler is an argument of consume
(circuitbreaker|breaker|killswitch): breaker is an option of consume
(autoack|noack|ackmode|acks?late|acknowledge(mode)?|autocomplete)$: consume acknowledges a message after its handler
(idempot|deduplicat|contentbaseddedup|requiresduplicatedet): once() of redeliver/consume handles a message only once
(receive)?waittimeseconds$: consume chooses how long a poll waits
(durable|exclusive|autodelete(onidle)?|passive|(exchange|queue)options|internal)$: sources and work queues always stay
(x?deadletter|dlx?)(routingkey|exchange|strategy|targetarn|ingon): Redeliver makes the way to the dead queue
(exchange|routingkey)(name)?$: Redeliver makes the exchanges between the queues of a consumer
x?max(len|length)(bytes)?$: only a work queue may have a limit, because a full dead queue loses letters
(delayseconds|initialvisibilitytimeout)$: a message is due at once, and retry.backoff delays its next attempts
messageretention(period|seconds)?$: a work queue keeps messages as long as it can; deadLetter.retain is for the dead queue
(prefix|suffix|naming)$: names has a template for each kind of name
(env|environment|stage)$: one declaration serves every environment, and each has its own target
enabled$: attempts: 1 means no retry
(on|transient|temporary|recoverable|retryable|retryableerrors|retryableexceptions|retryon|retryfor|autoretryfor|include|handle)$: every error that permanent does not list is transient
queue(name)?$: queue is a key of a consumer, and names its work queue
(x?maxpriority|priority|priorities)$: work queues are quorum queues, which have priorities from 4.0 on without an argument
x?overflow(behaviou?r)?$: a full queue refuses messages, because every other way loses some
x?queuetype$: work queues are quorum queues, because a classic queue can lose messages
(x|default)?message(ttl|timetolive)$: a time to live would end messages that nobody has tried
version$: a declaration has no version`
  .slice(1)
  .split("\n")
  .map((line) => /^(.*?): (.*)$/.exec(line) ?? []);

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
  const [, , reason] = elsewhere.find(([, words]) => new RegExp(`^${words}`).test(simple(key))) ?? [];
  return reason && `remove it: ${reason}`;
}
