import { type Checked, refusedFor } from "../diagnostics/diagnostic.ts";
import type { Unsaid } from "./found.ts";

/**
 * The refusal of an input without any work queue, or without those that a person named.
 *
 * @param found the number of queues in the input
 * @param noWork half a sentence about the queues that are no work queues
 * @param refused the work queues that no declaration can have, or the reason for each missing one
 */
export function nothingToAdopt(
  missing: readonly string[],
  found: number,
  noWork: string,
  refused: readonly Unsaid[] = [],
): Checked<never> {
  const reasons = refused.map(({ place, fact }) => `${place}: ${fact}`);
  if (missing.length === 0 && reasons.length > 0)
    return refusedFor("RD331", {
      path: "",
      message: "no declaration can have any of these consumers",
      notes: reasons,
      help: "change what keeps one of them out, or leave them as they are",
    });
  return refusedFor("RD331", {
    path: "",
    message:
      missing.length > 0
        ? `${missing.join(", ")} ${missing.length === 1 ? "is no work queue" : "are no work queues"} of the input`
        : `none of the ${found} queues looks like one that a consumer takes messages from`,
    notes: reasons.length > 0 ? reasons : [`${noWork} are not work queues`],
    help:
      reasons.length > 0
        ? "give --queue the names of work queues only, as the broker spells them"
        : "name the work queues with --queue, as the broker spells them",
  });
}
