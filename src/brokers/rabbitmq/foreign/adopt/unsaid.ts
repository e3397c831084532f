import type { Unsaid } from "../../../../adopt/found.ts";
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

/** Arguments that a declaration has properties for. */
export const inferredArguments = [
  "x-single-active-consumer",
  "x-queue-leader-locator",
  "x-quorum-initial-group-size",
] as const;

/** The facts about one work queue that no property of a declaration has a place for. */
export function unsaidOf(
  { valuesOf, topology }: Looking,
  settings: EffectiveSettings,
  { course, dead, hasCrash }: { readonly course: Course; readonly dead: string | null; readonly hasCrash: boolean },
): readonly Unsaid[] {
  const { queue, kind } = settings;
  const said = (fact: string): Unsaid => ({ place: queue, fact });
  const given = valuesOf(queue);
  const own = topology.queues.find(({ name }) => name === queue)?.arguments ?? {};
  const isInferred = (key: string): boolean =>
    inferredArguments.some((each) => each === `x-${key}` && own[each] !== undefined);
  const values = Object.entries(reasons).flatMap(([key, reason]) => {
    const value = given[key];
    return value === undefined || isInferred(key) ? [] : [said(`${key} is ${JSON.stringify(value)}: ${reason}`)];
  });
  return [
    ...(kind === "classic"
      ? [
          said(
            "it is a classic queue, and a compiled queue is a quorum queue; the type of a queue cannot change in place",
          ),
        ]
      : []),
    ...values,
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
