import type { Inferred } from "../../../../adopt/found.ts";
import { namedDeadQueue, purposeOf } from "../../../../foreign/purpose.ts";
import type { EffectiveSettings } from "../../prove/semantics.ts";
import { type Course, courseOf } from "./course.ts";
import type { Looking } from "./looking.ts";

/**
 * The dead queue is the end of the course. Otherwise a name shows it, because it contains that of the work queue. Or the
 * consumer has a dead-letter exchange to itself, with one queue for failures behind it.
 */
export function deadOf(
  { topology, surroundings, settings, named: chosen }: Looking,
  queue: string,
  course: Course,
): Inferred<string> | undefined {
  if (course.dead !== null && surroundings.shapeOf(course.dead) === "dead")
    return { value: course.dead, from: `messages of ${queue} end in ${course.dead}` };
  const others = settings
    .map((each) => each.queue)
    .filter((name) => surroundings.shapeOf(name) !== "wait" && !surroundings.takesEvents(name) && !chosen.has(name));
  const named = namedDeadQueue(queue, others);
  if (named !== undefined) return { value: named, from: `the name of ${named}` };
  const exchange = settings.find((each) => each.queue === queue)?.deadLetterExchange ?? "";
  const users = settings.filter(
    (each) => each.deadLetterExchange === exchange && surroundings.shapeOf(each.queue) === "work",
  );
  const behind = topology.bindings
    .filter((each) => each.source === exchange && each.destinationKind === "queue")
    .map(({ destination }) => destination)
    .filter((name) => others.includes(name) && purposeOf(name) === "failures" && !name.endsWith("skipped"));
  const [parking, ...more] = new Set(behind);
  return exchange === "" || users.length !== 1 || parking === undefined || more.length > 0
    ? undefined
    : { value: parking, from: `${parking} takes failed messages, and ${exchange} leads to it` };
}

/** The dead queue that a work queue has today, also if others share it. */
export function deadQueueToday(looking: Looking, settings: EffectiveSettings): string | null {
  const { semantics, surroundings } = looking;
  const { queue } = settings;
  if (surroundings.shapeOf(queue) !== "work") return null;
  const [entry = { exchange: "", routingKey: queue }] = surroundings.entriesOf(settings);
  return deadOf(looking, queue, courseOf(semantics, settings, entry))?.value ?? null;
}
