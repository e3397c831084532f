import { type Diagnostic, diagnosed } from "../diagnostics/diagnostic.ts";
import { sharesDeadNames } from "../plan/names.ts";
import type { Plan } from "../plan/plan.ts";
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

/** Refuses a name for the dead queue of one consumer, if the target makes all consumers share one. */
export function refuseOwnDeadNames(plan: Plan, { deadQueue }: { readonly deadQueue?: DeadQueueKind }): Diagnostic[] {
  if (deadQueue !== "shared") return [];
  const message = "this names a dead queue for each consumer, and the target makes all consumers share one";
  const [template, help] = [plan.names?.dead, "leave it out, or leave deadQueue out of the target"];
  return [
    ...(template === undefined || sharesDeadNames(plan)
      ? []
      : diagnosed("RD204", { path: ["names", "dead"], message, value: template, help })),
    ...plan.consumers.flatMap(({ consumer, deadQueue: value }) =>
      value === undefined
        ? []
        : diagnosed("RD204", { path: ["consumers", consumer, "deadLetter", "queue"], message, value, help }),
    ),
  ];
}
