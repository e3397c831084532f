import type { Unsaid } from "../../../../adopt/found.ts";
import type { EffectiveSettings } from "../../prove/semantics.ts";
import type { Course } from "./course.ts";
import type { Looking } from "./looking.ts";

/** The arguments and keys of policies that a declaration has no property for, with the consequence. */
const reasons: Readonly<Record<string, string>> = {
  "max-priority": "priorities need a classic queue, and a compiled queue is a quorum queue",
  "single-active-consumer": "a declaration lets all instances take messages",
  "max-length": "a compiled queue has no limit of its own",
  "max-length-bytes": "a compiled queue has no limit of its own",
  "message-ttl": "in a compiled work queue no message expires",
  expires: "a compiled queue stays without use",
  "queue-mode": "it has no meaning for quorum queues",
  "queue-leader-locator": "the broker places the leaders",
  "queue-master-locator": "the broker places the leaders",
  "quorum-initial-group-size": "the broker chooses the number of members",
};

/** The facts about one work queue that no property of a declaration has a place for. */
export function unsaidOf(
  { valuesOf }: Looking,
  settings: EffectiveSettings,
  { course, dead, hasCrash }: { readonly course: Course; readonly dead: string | null; readonly hasCrash: boolean },
): readonly Unsaid[] {
  const { queue, kind } = settings;
  const said = (fact: string): Unsaid => ({ place: queue, fact });
  const given = valuesOf(queue);
  const values = Object.entries(reasons).flatMap(([key, reason]) => {
    const value = given[key];
    return value === undefined ? [] : [said(`${key} is ${JSON.stringify(value)}: ${reason}`)];
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
    ...(course.end === "lost" ? [said("a rejected message has no way on, and the broker deletes it today")] : []),
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
