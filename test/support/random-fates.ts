import { randomInt } from "node:crypto";

import type { ConsumeEvent } from "../../src/consume/event.ts";
import { draw } from "../../src/simulate/draw.ts";

type Outcome = "success" | "transient" | "permanent";

/** What the attempts of each message come to. Messages are `m0`, `m1`, … */
export type Fates = (id: string, attempt: number) => Outcome;

/** The error whose name and reason permanent failures have in these tests. */
export const permanentReason = "NEVER";

/** Another one for each run of the tests; that which a failure names is played again with it in the environment. */
export function seedOfThisRun(): number {
  const given = process.env["FATES_SEED"];
  return given === undefined ? randomInt(2 ** 32) : Number(given);
}

/** Of all attempts half end well, two fifths fail for now, a tenth for good; each is drawn by itself, whatever the others came to. */
export function randomFates(seed: number): Fates {
  return (id, attempt) => {
    const drawn = draw(seed, Number(id.slice(1)), attempt);
    if (drawn < 0.5) return "success";
    return drawn < 0.9 ? "transient" : "permanent";
  };
}

/** What a message comes to with nothing in its way: the outcome of each attempt, in order. */
export function courseOf(fates: Fates, id: string, attempts: number): readonly Outcome[] {
  const course: Outcome[] = [];
  do course.push(fates(id, course.length + 1));
  while (course.at(-1) === "transient" && course.length < attempts);
  return course;
}

/** What was seen of all messages. */
export interface Seen {
  /** In the order in which they began. */
  readonly runs: readonly { readonly id: string; readonly attempt: number }[];
  /** Whose success the broker was told, as often as it was. */
  readonly well: readonly string[];
  /** Whose success the broker was told without an answer: it is the end of those that never come again. */
  readonly unanswered: readonly string[];
  readonly letters: readonly { readonly id: string; readonly reason: string | undefined }[];
}

/** What a consumer's events tell of successes. @param idOf which message the broker's own id stands for */
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
 * Accounts for every message. One that nothing got in the way of has had exactly the attempts that were drawn for it, and has ended once, as the last of
 * them did and for its reason. All others are disturbed, and who asks knows how many those may be; but not one of them may be lost, have ended well
 * without a success, or be dead for a failure that it did not have.
 *
 * @returns what may never be, in words, and which messages something got in the way of
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

/** What a message is dead for whose last attempts the fault has cost it. */
const byTheFault: ReadonlySet<string> = new Set(["ATTEMPTS_EXHAUSTED", "CRASH_LIMIT"]);

/** How a message may have ended after these attempts. Where the broker itself dead-letters what is rejected, a permanent failure has no reason of its own. */
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
