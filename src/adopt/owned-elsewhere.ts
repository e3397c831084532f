import type { Unsaid } from "./found.ts";

/** The reasons to leave out work queues that another program owns. */
export function ownedElsewhere(queues: readonly string[], elsewhere: readonly string[]): readonly Unsaid[] {
  const fact =
    "it is left out: the state only reads it, so another program owns it; adopt it from the state of that one";
  return queues.filter((place) => elsewhere.includes(place)).map((place) => ({ place, fact }));
}

/** The fact about a dead queue that a consumer leaves to others. */
export function deadOfOthers(
  place: string,
  queue: string,
  because = "other queues have their letters there, too",
): Unsaid {
  return { place, fact: `${because}, so ${queue} gets another dead queue. The letters here stay` };
}

/** The fact about a dead queue that another program owns. */
export function deadElsewhere(dead: string, queue: string): Unsaid {
  return deadOfOthers(dead, queue, "another program owns it");
}
