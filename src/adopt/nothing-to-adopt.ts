import { type Checked, refusedFor } from "../diagnostics/diagnostic.ts";

/**
 * The refusal of an input without any work queue, or without those that a person named.
 *
 * @param found the number of queues in the input
 * @param noWork half a sentence about the queues that are no work queues
 */
export function nothingToAdopt(missing: readonly string[], found: number, noWork: string): Checked<never> {
  return refusedFor("RD331", {
    path: "",
    message:
      missing.length > 0
        ? `there is no work queue ${missing.join(", ")}`
        : `none of the ${found} queues looks like one that a consumer takes messages from`,
    notes: [`${noWork} are not work queues`],
    help: "name the work queues with --queue, as the broker spells them",
  });
}
