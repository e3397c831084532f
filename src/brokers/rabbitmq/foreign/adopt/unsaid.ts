import type { FoundConsumer, Unsaid } from "../../../../adopt/found.ts";
import type { EffectiveSettings } from "../../prove/semantics.ts";
import type { Course } from "./course.ts";
import type { Looking } from "./looking.ts";

/** The arguments and keys of policies that a declaration has no property for, with the consequence. */
const reasons: Readonly<Record<string, string>> = {
  "max-priority": "priorities need a classic queue, and a compiled queue is a quorum queue",
  "single-active-consumer": "a declaration lets all instances take messages",
  "max-length": "queueArguments.maxLength has it under native and deferred, and a full queue then refuses messages",
  "max-length-bytes":
    "queueArguments.maxLengthBytes has it under native and deferred, and a full queue then refuses messages",
  "message-ttl": "in a compiled work queue no message expires",
  expires: "a compiled queue stays without use",
  "queue-mode": "it has no meaning for quorum queues",
  "queue-leader-locator": "the broker places the leaders",
  "queue-master-locator": "the broker places the leaders",
  "quorum-initial-group-size": "the broker chooses the number of members",
};

const lengthKeys: readonly string[] = ["max-length", "max-length-bytes"];

/** Arguments that a declaration has properties for. */
export const inferredArguments = [
  "x-single-active-consumer",
  "x-queue-leader-locator",
  "x-quorum-initial-group-size",
] as const;

/** The limits on the length of a work queue that a declaration can have: a full queue refuses messages. */
export function lengthLimitsOf(
  looking: Looking,
  { queue, maxLength, maxLengthBytes, overflow }: EffectiveSettings,
): FoundConsumer["lengthLimits"] {
  if (overflow !== "reject-publish" || (maxLength === null && maxLengthBytes === null)) return undefined;
  return {
    value: { ...(maxLength === null ? {} : { maxLength }), ...(maxLengthBytes === null ? {} : { maxLengthBytes }) },
    from: `${queue} has these limits, and refuses messages while it is full`,
    unsaid: valuesAmong(looking, queue, lengthKeys),
  };
}

/** The facts about one work queue that no property of a declaration has a place for. */
export function unsaidOf(
  looking: Looking,
  settings: EffectiveSettings,
  { course, dead, hasCrash }: { readonly course: Course; readonly dead: string | null; readonly hasCrash: boolean },
): readonly Unsaid[] {
  const { queue, kind } = settings;
  const said = (fact: string): Unsaid => ({ place: queue, fact });
  const own = looking.topology.queues.find(({ name }) => name === queue)?.arguments ?? {};
  const isInferred = (key: string): boolean =>
    inferredArguments.some((each) => each === `x-${key}` && own[each] !== undefined);
  const hasLimits = lengthLimitsOf(looking, settings) !== undefined;
  const others = Object.keys(reasons).filter((key) => !isInferred(key) && !(hasLimits && lengthKeys.includes(key)));
  return [
    ...(kind === "classic"
      ? [
          said(
            "it is a classic queue, and a compiled queue is a quorum queue; the type of a queue cannot change in place",
          ),
        ]
      : []),
    ...valuesAmong(looking, queue, others),
    ...(own["x-consumer-timeout"] === undefined
      ? []
      : [said("x-consumer-timeout is an argument of the queue: a compiled queue has it in its policy")]),
    ...(course.end === "lost"
      ? [{ ...said("a rejected message has no way on, and the broker deletes it today"), isLoss: true as const }]
      : []),
    ...(dead === null ? [said("no queue keeps its dead letters today; a declaration always has a dead queue")] : []),
    ...(hasCrash || course.delaysMs.length > 0 || settings.deliveryLimit !== null
      ? []
      : [
          said(
            "nothing counts its crashes today; a declaration always ends them, by default after as many as attempts",
          ),
        ]),
  ];
}

function valuesAmong({ valuesOf }: Looking, queue: string, keys: readonly string[]): readonly Unsaid[] {
  const given = valuesOf(queue);
  return keys
    .filter((key) => given[key] !== undefined)
    .map((key) => ({ place: queue, fact: `${key} is ${JSON.stringify(given[key])}: ${reasons[key]}` }));
}
