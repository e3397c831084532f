import { type Diagnostic, diagnosed } from "../diagnostics/diagnostic.ts";
import { sharesDeadNames } from "../plan/names.ts";
import type { ConsumerPlan, Plan } from "../plan/plan.ts";
import { misfit } from "./shared-problems.ts";

/** Each consumer has a dead queue of its own, or the consumers of a system share one. */
export const deadQueueKinds = ["own", "shared"] as const;
export type DeadQueueKind = (typeof deadQueueKinds)[number];

/** @param broker the broker's name for a sentence */
export function diagnoseDeadQueue(broker: string, word: unknown): Diagnostic[] {
  if (word === undefined || deadQueueKinds.some((each) => each === word)) return [];
  const message = `${broker} has no deadQueue named ${JSON.stringify(word)}`;
  return [misfit(["target", "deadQueue"], word, message, `write one of ${deadQueueKinds.join(", ")}`)];
}

/**
 * True if a consumer has the dead queue of all. If the declaration names its dead queue, it has that one.
 *
 * @param own the declared name
 */
export function sharesDeadQueue(
  { deadQueue }: { readonly deadQueue?: DeadQueueKind },
  own: string | undefined,
): boolean {
  return deadQueue === "shared" && own === undefined;
}

/** The target of one consumer, without the shared dead queue if the consumer has its own. */
export function withOwnDeadQueue<Target extends { readonly deadQueue?: DeadQueueKind }>(
  target: Target,
  plan: Pick<ConsumerPlan, "deadQueue">,
): Target {
  if (sharesDeadQueue(target, plan.deadQueue)) return target;
  const { deadQueue: _, ...own } = target;
  return own as Target;
}

/** Refuses a template for the names of dead queues that gives each consumer another, if they share one. */
export function refuseOwnDeadNames(plan: Plan, { deadQueue }: { readonly deadQueue?: DeadQueueKind }): Diagnostic[] {
  const value = plan.names?.dead;
  if (deadQueue !== "shared" || value === undefined || sharesDeadNames(plan)) return [];
  return diagnosed("RD204", {
    path: ["names", "dead"],
    message: "this names a dead queue for each consumer, and the target makes all consumers share one",
    value,
    help: "leave it out, or leave deadQueue out of the target",
  });
}
