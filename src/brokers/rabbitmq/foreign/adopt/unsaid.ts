import type { FoundConsumer, Unsaid } from "../../../../adopt/found.ts";
import { type EffectiveSettings, dropsHead, versionRules } from "../../prove/semantics.ts";
import { purposeOf } from "../../../../foreign/purpose.ts";
import type { Unrouted } from "../audit/partial-routes.ts";
import type { Course } from "./course.ts";
import { type Looking, shovelFrom } from "./looking.ts";
import { ownSystemOf } from "./own-system.ts";

/** The arguments and keys of policies that a declaration has no property for, with the consequence. */
const reasons: Readonly<Record<string, string>> = {
  "max-priority":
    "a compiled queue is a quorum queue, which has the priorities of its version: none up to 3.13, two from 4.0, and 0 to 31 from 4.3",
  "single-active-consumer": "a declaration lets all instances take messages",
  "max-length":
    "write it as queueArguments.maxLength to keep it: a full queue then refuses messages. Without it the queue has no limit",
  "max-length-bytes":
    "write it as queueArguments.maxLengthBytes to keep it: a full queue then refuses messages. Without it the queue has no limit",
  "message-ttl": "in a compiled work queue no message expires",
  expires: "a compiled queue stays without use",
  "consumer-timeout": "this version of RabbitMQ ignores it",
  "queue-mode": "it has no meaning for quorum queues",
  "queue-leader-locator": "the broker places the leaders",
  "queue-master-locator": "the broker places the leaders",
  "quorum-initial-group-size": "the broker chooses the number of members",
};

/** The same for a dead queue. */
const deadReasons: typeof reasons = {
  "message-ttl": "the broker deletes older letters today, and a compiled dead queue keeps them until they are removed",
  "max-length": "a full queue drops letters today, and a compiled dead queue has no limit",
  "max-length-bytes": "a full queue drops letters today, and a compiled dead queue has no limit",
  expires: "the broker deletes the unused queue with its letters today, and a compiled queue stays without use",
};

/** The limits by which a work queue without a dead-letter exchange loses messages. */
const deleting: typeof reasons = {
  "message-ttl": "the broker deletes expired messages today, and in a compiled work queue no message expires",
  "max-length": "a full queue drops its oldest messages today, and a compiled one never does",
  "max-length-bytes": "a full queue drops its oldest messages today, and a compiled one never does",
};

/**
 * The arguments of queues that the broker or a plugin of its distribution reads, without `x-`. It takes any other one,
 * and ignores it. Source: `rabbit_amqqueue:declare_args/0`, and `queue_arguments` of the types of queues (4.3.5).
 */
const knownArguments: ReadonlySet<string> = new Set(
  [
    "expires message-ttl dead-letter-exchange dead-letter-routing-key dead-letter-strategy overflow",
    "max-length max-length-bytes max-in-memory-length max-in-memory-bytes max-priority max-age",
    "queue-type queue-mode queue-version queue-leader-locator queue-master-locator initial-cluster-size",
    "quorum-initial-group-size quorum-target-group-size member-placement-tag modulus-hash internal-purpose",
    "delivery-limit delayed-retry-type delayed-retry-min delayed-retry-max single-active-consumer",
    "consumer-timeout consumer-disconnected-timeout stream-max-segment-size-bytes stream-filter-size-bytes",
    // The plugin rabbitmq-message-deduplication.
    "message-deduplication cache-size cache-ttl cache-persistence",
  ].flatMap((names) => names.split(" ")),
);

/** The most keys that a fact names. */
const mostNamed = 3;

const lengthKeys: readonly string[] = ["max-length", "max-length-bytes"];

/** Arguments that a declaration has properties for. */
export const inferredArguments = [
  "x-single-active-consumer",
  "x-queue-leader-locator",
  "x-quorum-initial-group-size",
] as const;

/**
 * The limits on the length of a work queue that a declaration can have: a full queue refuses messages. `ownArguments` has
 * the arguments of the queue for them; it is empty if a policy has one of them.
 */
export function lengthLimitsOf(
  looking: Looking,
  { queue, maxLength, maxLengthBytes, overflow }: EffectiveSettings,
): (NonNullable<FoundConsumer["lengthLimits"]> & { readonly ownArguments: readonly string[] }) | undefined {
  if (overflow !== "reject-publish" || (maxLength === null && maxLengthBytes === null)) return undefined;
  const given = looking.topology.queues.find(({ name }) => name === queue)?.arguments ?? {};
  const inForce = Object.entries({ "x-max-length": maxLength, "x-max-length-bytes": maxLengthBytes }).filter(
    ([, value]) => value !== null,
  );
  return {
    value: { ...(maxLength === null ? {} : { maxLength }), ...(maxLengthBytes === null ? {} : { maxLengthBytes }) },
    ownArguments: inForce.every(([key, value]) => given[key] === value) ? inForce.map(([key]) => key) : [],
    from: `${queue} has these limits, and refuses messages while it is full`,
    unsaid: valuesAmong(looking, queue, lengthKeys),
  };
}

/** The facts about one work queue that no property of a declaration has a place for. */
export function unsaidOf(
  looking: Looking,
  settings: EffectiveSettings,
  {
    course,
    unrouted,
    dead,
    isCounted,
    hasTimeout,
  }: {
    readonly course: Course;
    readonly unrouted: readonly Unrouted[];
    readonly dead: string | null;
    /** True if a limit ends the crashes of a message. */
    readonly isCounted: boolean;
    /** True if the version has a consumer timeout of a queue. */
    readonly hasTimeout: boolean;
  },
): readonly Unsaid[] {
  const { queue, kind } = settings;
  const said = (fact: string): Unsaid => ({ place: queue, fact });
  const own = looking.topology.queues.find(({ name }) => name === queue)?.arguments ?? {};
  const isInferred = (key: string): boolean =>
    inferredArguments.some((each) => each === `x-${key}` && own[each] !== undefined);
  const hasLimits = lengthLimitsOf(looking, settings) !== undefined;
  const handedOn = course.dead !== null && looking.surroundings.shapeOf(course.dead) === "work" ? course.dead : null;
  const isTimed = own["x-consumer-timeout"] === undefined || hasTimeout;
  const losing = keysThatDelete(settings);
  const others = Object.keys(reasons)
    .filter((key) => !losing.includes(key))
    .filter((key) => !isInferred(key) && !(hasLimits && lengthKeys.includes(key)))
    .filter((key) => key !== "consumer-timeout" || !isTimed);
  return [
    ...(kind === "classic"
      ? [
          said(
            "it is a classic queue, and a compiled queue is a quorum queue; the type of a queue cannot change in place",
          ),
        ]
      : []),
    ...valuesAmong(looking, queue, others),
    ...Object.keys(own).flatMap((key) =>
      key.startsWith("x-") && !knownArguments.has(key.slice("x-".length)) ? [said(unknownArgument(key, own[key]))] : [],
    ),
    ...lossesOf(looking, settings, course, unrouted),
    ...looking.shovels.flatMap(({ name, intoQueue }) =>
      intoQueue === queue
        ? [
            said(
              `the shovel ${name} publishes to it by its name; if a new queue takes its place, let the shovel name that one`,
            ),
          ]
        : [],
    ),
    ...(handedOn === null
      ? []
      : [
          said(
            `its rejected messages go to ${handedOn}, which has a consumer; declared ones go to a dead queue instead`,
          ),
        ]),
    ...(dead === null && course.dead === null && !hasFailures(looking)
      ? [said("no queue keeps its dead letters today; a declaration always has a dead queue")]
      : []),
    ...unreachedLimit(looking, settings).map(said),
    ...(isCounted
      ? []
      : [said(uncounted("delivery-limit" in looking.valuesOf(queue) && !("x-delivery-limit" in own)))]),
  ];
}

function uncounted(byPolicy: boolean): string {
  return `nothing counts its crashes today; a declaration always ends them, here after a guess${byPolicy ? ", by a policy that outranks its own" : ""}`;
}

/** People believe that an argument with such a name limits retries. */
function unknownArgument(key: string, value: unknown): string {
  const belief = /retr|attempt|deliver/.test(key) ? ", so it limits no retries" : "";
  return `${key} is ${JSON.stringify(value)}: RabbitMQ knows no such argument of a queue, and ignores it${belief}`;
}

const asLoss = (fact: Unsaid): Unsaid => ({ ...fact, isLoss: true });

/** A dead-letter exchange gets expired messages, and those that a full queue drops. */
function keysThatDelete(settings: EffectiveSettings): readonly string[] {
  if (settings.deadLetterExchange !== null) return [];
  return ["message-ttl", ...(dropsHead(settings) ? lengthKeys : [])];
}

/** The ways in which it loses messages today. */
function lossesOf(
  looking: Looking,
  settings: EffectiveSettings,
  { end }: Course,
  unrouted: readonly Unrouted[],
): readonly Unsaid[] {
  const { queue, goesWith } = settings;
  const facts = [
    ...(goesWith.includes("restart")
      ? [
          "it is not durable: a restart of the broker deletes it with its messages, and from 4.3 on the broker refuses such a queue by default",
        ]
      : []),
    ...(end === "lost"
      ? ["a rejected message has no way on, and the broker deletes it today"]
      : lostKeysOf(settings, unrouted)),
  ];
  return [
    ...valuesAmong(looking, queue, keysThatDelete(settings), deleting),
    ...facts.map((fact) => ({ place: queue, fact })),
  ].map(asLoss);
}

/** The keys that its dead-letter exchange has no route for, while it has one for others. */
function lostKeysOf(
  { deadLetterExchange, deadLetterStrategy }: EffectiveSettings,
  unrouted: readonly Unrouted[],
): readonly string[] {
  if (unrouted.length === 0) return [];
  const keys = new Set(unrouted.slice(0, mostNamed).map(({ key }) => JSON.stringify(key)));
  const fate = deadLetterStrategy === "at-least-once" ? "the queue keeps it for ever, unseen" : "the broker deletes it";
  return [
    `${deadLetterExchange} has a route for some of its failures only: a rejected message with a key such as ${[...keys].join(" or ")} has no way on, and ${fate} today`,
  ];
}

/** RD417 of the audit, for the code of others. */
function unreachedLimit({ version, topology }: Looking, settings: EffectiveSettings): readonly string[] {
  const isReached = versionRules[version].limitCounts !== "failures" || settings.deliveryLimit === null;
  if (isReached || ownSystemOf(topology, settings) !== null) return [];
  return [
    "from 4.3 on, basic.nack with requeue never reaches its delivery limit. Code that answers a failure by it, as Spring's can, gets the message again for ever, and never empties the queue: stop that code, and move the rest by a shovel",
  ];
}

/** A queue for failures may hold the letters of any consumer. */
function hasFailures({ surroundings, settings }: Looking): boolean {
  return settings.some(({ queue }) => surroundings.shapeOf(queue) === "dead" && purposeOf(queue) === "failures");
}

/** The limits by which a dead queue loses letters today, and a shovel that takes them away. */
export function unsaidOfDead(looking: Looking, dead: string): readonly Unsaid[] {
  const refuses = looking.valuesOf(dead)["overflow"] === "reject-publish";
  const keys = Object.keys(deadReasons).filter((key) => !(refuses && lengthKeys.includes(key)));
  const shovel = shovelFrom(looking, dead);
  if (looking.surroundings.shapeOf(dead) === "stream")
    return [
      {
        place: dead,
        fact: "it is a stream, and keeps its letters: read them with a client of streams, because redeliver dead does not",
      },
    ];
  return [
    ...valuesAmong(looking, dead, keys, deadReasons).map(asLoss),
    ...(shovel === undefined
      ? []
      : [{ place: dead, fact: `the shovel ${shovel} takes its letters away, so redeliver dead does not find them` }]),
  ];
}

function valuesAmong(
  { valuesOf }: Looking,
  queue: string,
  keys: readonly string[],
  because = reasons,
): readonly Unsaid[] {
  const given = valuesOf(queue);
  return keys
    .filter((key) => given[key] !== undefined)
    .map((key) => ({ place: queue, fact: `${key} is ${JSON.stringify(given[key])}: ${because[key]}` }));
}
