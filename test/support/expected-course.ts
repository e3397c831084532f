import type { Contract } from "../../src/index.ts";
import type { Ending } from "./drive.ts";

/** The course of a message by the promises: each delivery with its attempt, then its end. */
export interface Course {
  readonly deliveries: readonly { readonly attempt: number; readonly ending: Ending }[];
  readonly end: "done" | "dead" | "waiting";
}

/**
 * Computes the course of a message with the given handler endings, from the promises alone and without a topology. The
 * live tests compare the brokers with it.
 *
 * @param endings the end of each delivery; after the last, the message is left waiting
 */
export function expectedCourse(contract: Contract, version: string, endings: readonly Ending[]): Course {
  const rules = rulesOf(contract, version);
  const deliveries: { attempt: number; ending: Ending }[] = [];
  const attempts = contract.attempts.length;
  let attempt = 1;
  let crashes = 0;
  for (const ending of endings) {
    deliveries.push({ attempt, ending });
    if (ending === "success") return { deliveries, end: "done" };
    if (ending === "permanent") return { deliveries, end: "dead" };
    if (ending === "return" && !rules.returnsSpendCrashes) continue;
    if (ending !== "transient" && !rules.crashIsAttempt) {
      crashes++;
      if (crashes < (contract.crashDeliveries ?? 1)) continue;
      return { deliveries, end: "dead" };
    }
    if (attempt === attempts) return { deliveries, end: "dead" };
    attempt++;
    if (!rules.crashesAddUp) crashes = 0;
  }
  return { deliveries, end: "waiting" };
}

function rulesOf(contract: Contract, version: string) {
  const isSharedCounter = contract.strategy === "native" || contract.strategy === "deferred";
  return {
    /** One counter for failures and crashes. */
    crashIsAttempt: isSharedCounter,
    returnsSpendCrashes: version !== "4.3",
    /** The crash budget is for the whole life of the message, not for one attempt. */
    crashesAddUp: version === "4.3" && contract.strategy === "staged",
  };
}
