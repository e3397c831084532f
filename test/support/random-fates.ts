import { randomInt } from "node:crypto";

import type { ConsumeEvent } from "../../src/consume/port/event.ts";
import { draw } from "../../src/simulate/draw.ts";

type Outcome = "success" | "transient" | "permanent";

/** The outcomes of each message's attempts. Messages are `m0`, `m1`, … */
export type Fates = (id: string, attempt: number) => Outcome;

/** The name and reason of permanent failures in these tests. */
export const permanentReason = "NEVER";

/** Each run of the tests has another seed. To repeat a run, put the seed of its failure into the environment. */
export function seedOfThisRun(): number {
  const given = process.env["FATES_SEED"];
  return given === undefined ? randomInt(2 ** 32) : Number(given);
}

/** Half of all attempts succeed, two fifths fail for now, and a tenth fails for good. Each is drawn by itself. */
export function randomFates(seed: number): Fates {
  return (id, attempt) => {
    const drawn = draw(seed, Number(id.slice(1)), attempt);
    if (drawn < 0.5) return "success";
    return drawn < 0.9 ? "transient" : "permanent";
  };
}

/**
 * Fates of an ordinary day. Of 100 messages 85 succeed at once, 7 first fail one to three times, 5 always fail, and 3
 * are dead at once.
 */
export function ordinaryFates(seed: number): Fates {
  return (id, attempt) => {
    const message = Number(id.slice(1));
    const drawn = draw(seed, message, 0);
    if (drawn < 0.03) return "permanent";
    if (drawn < 0.08) return "transient";
    const failures = drawn < 0.15 ? 1 + Math.floor(3 * draw(seed, message, 1)) : 0;
    return attempt <= failures ? "transient" : "success";
  };
}

/** The course of an undisturbed message: the outcome of each attempt, in order. */
export function courseOf(fates: Fates, id: string, attempts: number): readonly Outcome[] {
  const course: Outcome[] = [];
  do course.push(fates(id, course.length + 1));
  while (course.at(-1) === "transient" && course.length < attempts);
  return course;
}

/** The observations of all messages. */
export interface Seen {
  /** In the order of their beginning. */
  readonly runs: readonly { readonly id: string; readonly attempt: number }[];
  /** The successes that the broker was told, as often as it was told. */
  readonly well: readonly string[];
  /** The successes that the broker did not answer. Each is the end of a message if the message never comes again. */
  readonly unanswered: readonly string[];
  readonly letters: readonly { readonly id: string; readonly reason: string | undefined }[];
}

/** Finds the successes in a consumer's events. @param idOf gives the message for the broker's own id */
export function successesIn(
  events: readonly ConsumeEvent[],
  fates: Fates,
  idOf: (messageId: string | null) => string,
): Pick<Seen, "well" | "unanswered"> {
  const well: string[] = [];
  const unanswered: string[] = [];
  for (const event of events) {
    if (event.kind === "settled" && event.outcome === "success") well.push(idOf(event.messageId));
    if (event.kind !== "settle-dropped") continue;
    const id = idOf(event.messageId);
    if (fates(id, event.attempt) === "success") unanswered.push(id);
  }
  return { well, unanswered };
}

/**
 * Accounts for every message. An undisturbed message had exactly its drawn attempts. It ended once, in the way of the
 * last attempt and for its reason. All others are disturbed, and the caller knows their possible number. None of them
 * may be lost, succeed without a success, or be dead for a failure that it did not have.
 *
 * @returns the forbidden ends, in words, and the disturbed messages
 */
export function accountFor(
  { fates, attempts, ids }: { readonly fates: Fates; readonly attempts: number; readonly ids: readonly string[] },
  { runs, well, unanswered, letters }: Seen,
): { readonly wrong: readonly string[]; readonly disturbed: readonly string[] } {
  const attemptsOf = groupBy(runs, ({ attempt }) => attempt);
  const reasonsOf = groupBy(letters, ({ reason }) => reason ?? "no reason");
  const successesOf = groupBy(
    well.map((id) => ({ id })),
    () => "success",
  );
  const perhapsEnded = new Set(unanswered);
  const wrong: string[] = [];
  const disturbed: string[] = [];
  for (const id of ids) {
    const had = attemptsOf.get(id) ?? [];
    const ends = [...(successesOf.get(id) ?? []), ...(reasonsOf.get(id) ?? [])];
    const isUnanswered = ends.length === 0 && perhapsEnded.has(id);
    if (isUnanswered) ends.push("success");
    const course = courseOf(fates, id, attempts);
    const isAsDrawn = had.join() === course.map((_, index) => index + 1).join();
    if (!isAsDrawn || ends.length !== 1 || isUnanswered || !endsOf(course).includes(ends[0] ?? "")) disturbed.push(id);
    const possible = new Set(had.flatMap((attempt) => endsOf([fates(id, attempt)])));
    const story = `${id} had attempts ${had.join(", ")} of ${course.join(", ")}`;
    if (ends.length === 0) wrong.push(`${story} and is lost`);
    for (const end of ends) if (!possible.has(end) && !byTheFault.has(end)) wrong.push(`${story}: ${end}`);
  }
  const known = new Set(ids);
  for (const { id } of letters) if (!known.has(id)) wrong.push(`${id} is dead, and nobody sent it`);
  return { wrong, disturbed };
}

/** The reasons of a death by a fault that used up the last attempts. */
const byTheFault: ReadonlySet<string> = new Set(["ATTEMPTS_EXHAUSTED", "CRASH_LIMIT"]);

/**
 * The possible ends after these attempts. If the broker itself dead-letters a rejection, a permanent failure has no
 * reason of its own.
 */
function endsOf(course: readonly Outcome[]): readonly string[] {
  const last = course.at(-1);
  if (last === "permanent") return [permanentReason, "PERMANENT_FAILURE"];
  return last === "transient" ? ["ATTEMPTS_EXHAUSTED"] : ["success"];
}

function groupBy<Item extends { readonly id: string }, Value>(
  items: readonly Item[],
  valueOf: (item: Item) => Value,
): ReadonlyMap<string, readonly Value[]> {
  const groups = new Map<string, Value[]>();
  for (const item of items) {
    const group = groups.get(item.id);
    if (group === undefined) groups.set(item.id, [valueOf(item)]);
    else group.push(valueOf(item));
  }
  return groups;
}
