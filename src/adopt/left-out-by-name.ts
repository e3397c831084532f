import { purposeOf } from "../foreign/purpose.ts";
import type { Unsaid } from "./found.ts";

const facts = {
  copies: "by its name it holds copies or replies, and nobody retries these",
  failures:
    "by its name it holds failed messages, and nothing shows whose; its letters stay, and new ones go to the dead-letter queue of each consumer. If it has a consumer, name it with --queue",
} as const;

/**
 * The queues of these that are left out because of their names, with the reason.
 *
 * @param dead those that have dead letters of others for sure
 */
export function leftOutByName(names: readonly string[], dead: ReadonlySet<string | null>): readonly Unsaid[] {
  return names.flatMap((place) => {
    const purpose = purposeOf(place);
    if (purpose === null || purpose === "tools" || (purpose === "failures" && dead.has(place))) return [];
    return [{ place, fact: facts[purpose] }];
  });
}
