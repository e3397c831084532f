import type { ConsumeEvent } from "../consume/index.ts";
import type { Journal } from "../operate/journal.ts";

/**
 * Lets a redrive know what became of its letters, so that its steps need not wait. It is a `log` of `consume`, in the
 * consumer's process, with the journal of the redrive:
 *
 *     consume(system, "billing", { …, log: tellRedrives(journal) }, handle)
 *
 * A word that cannot be written is left out: the redrive then waits as long as it does without.
 */
export function tellRedrives(journal: Pick<Journal, "tell">): (event: ConsumeEvent) => void {
  return (event) => {
    if (event.kind !== "settled" || event.redriven === null || !event.isLast) return;
    const { redrive, letter } = event.redriven;
    const end = event.outcome === "success" ? "handled" : "dead";
    void journal.tell(redrive, letter, end).catch(() => undefined);
  };
}
