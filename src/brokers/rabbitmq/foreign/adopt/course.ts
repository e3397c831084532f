import type { EffectiveSettings, MessageState, Semantics } from "../../prove/semantics.ts";
import type { Entry, Surroundings } from "../audit/surroundings.ts";

/** The course of a message whose every attempt fails. */
export interface Course {
  /** The delay before each attempt after the first, in milliseconds. */
  readonly delaysMs: readonly number[];
  /** The queues where it waited, in order, each once. */
  readonly waits: readonly string[];
  /** `endless`: the broker alone never ends the attempts. `lost`: the broker keeps no copy, or keeps it out of reach. */
  readonly end: "dead" | "lost" | "endless";
  /** The queue where it ended. */
  readonly dead: string | null;
}

/** The most attempts that a declaration takes. */
const mostAttempts = 1_000;
/** The most queues on the way to one attempt. */
const mostSteps = 100;

/** The most ways into a queue whose messages are followed. */
const mostEntries = 50;

/** The course of messages of a work queue. A way into it that loses them counts only if all do. */
export function courseIn(semantics: Semantics, surroundings: Surroundings, settings: EffectiveSettings): Course {
  const entries = surroundings.entriesOf(settings).slice(0, mostEntries);
  let lost: Course | undefined;
  for (const entry of entries) {
    const course = courseOf(semantics, settings, entry);
    if (course.end !== "lost") return course;
    lost ??= course;
  }
  return lost ?? courseOf(semantics, settings, { exchange: "", routingKey: settings.queue });
}

/**
 * Follows a message that fails again and again through the model of the broker. The consumer rejects it without requeue,
 * or with requeue if the queue itself delays returns.
 */
function courseOf(semantics: Semantics, settings: EffectiveSettings, entry: Entry): Course {
  const { queue } = settings;
  const isHere = ({ place }: MessageState): boolean =>
    place.kind === "queue" && place.queue === queue && place.status === "ready";
  const isRequeued = settings.delayedRetry !== null && settings.delayedRetry.returns !== "returned";
  const failure = isRequeued
    ? ({ kind: "reject", requeue: true } as const)
    : ({ kind: "nack", requeue: false } as const);
  const delaysMs: number[] = [];
  const waits = new Set<string>();
  const seen = new Set<string>();
  let message = arrived(semantics, queue, entry).find(isHere);
  while (message !== undefined && delaysMs.length < mostAttempts) {
    const state = semantics.behaviourKey(message);
    if (seen.has(state)) return { delaysMs, waits: [...waits], end: "endless", dead: null };
    seen.add(state);
    const [held] = semantics.step(message, { kind: "deliver" }).flat();
    const failed = held === undefined ? [] : semantics.step(held, failure).flat();
    const ends = failed.map((copy) => settled(semantics, copy, queue));
    const back = ends.find(({ copy }) => isHere(copy));
    if (back === undefined) {
      const dead = ends.flatMap(({ copy: { place } }) =>
        place.kind === "queue" && place.status === "ready" ? [place.queue] : [],
      )[0];
      return { delaysMs, waits: [...waits], end: dead === undefined ? "lost" : "dead", dead: dead ?? null };
    }
    delaysMs.push(back.waitedMs);
    for (const each of back.waits) waits.add(each);
    message = back.copy;
  }
  return { delaysMs, waits: [...waits], end: "endless", dead: null };
}

function arrived(semantics: Semantics, queue: string, { exchange, routingKey }: Entry): readonly MessageState[] {
  const through = semantics.publish({ exchange, routingKey }).flat();
  return [...through, ...semantics.publish({ exchange: "", routingKey: queue }).flat()];
}

/** Lets a message wait until it is back in its queue, or in a queue that it does not leave by itself. */
export function settled(semantics: Semantics, start: MessageState, home: string) {
  let copy = start;
  let waitedMs = 0;
  const waits: string[] = [];
  for (let steps = 0; steps < mostSteps; steps++) {
    const { place, expiresAfterMs } = copy;
    if (place.kind !== "queue") break;
    const isDelayed = place.status === "delayed";
    if (!isDelayed && (place.status !== "ready" || place.queue === home || expiresAfterMs === null)) break;
    const copies = semantics.step(copy, { kind: isDelayed ? "due" : "expire" }).flat();
    // Other queues may get a copy as well, when it comes back.
    const next = copies.find((each) => each.place.kind === "queue" && each.place.queue === home) ?? copies[0];
    // A queue that drops its expired messages is the end of them.
    if (next === undefined || next.place.kind !== "queue") break;
    waitedMs += isDelayed ? (place.delayMs ?? 0) : (expiresAfterMs ?? 0);
    if (!isDelayed) waits.push(place.queue);
    copy = next;
  }
  return { copy, waitedMs, waits };
}
