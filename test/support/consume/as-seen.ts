import type { Contract, Operation, Outcome } from "../../../src/index.ts";
import { endingOf } from "../drive.ts";
import type { WireFrame } from "./amqp-proxy.ts";
import { type Handled, runsInOrder } from "./handled.ts";
import { headersOf, nameOf } from "./judge-wire-0-9-1.ts";
import { readWire091 } from "./read-wire-0-9-1.ts";

/**
 * The same contract, as far as the frames can show it. An operation of the contract removes headers and properties from
 * its copies. Here it removes only those that some message of this operation had. A consumer that does not remove
 * missing ones behaves the same.
 */
export function asSeen(contract: Contract, frames: readonly WireFrame[], handled: readonly Handled[]): Contract {
  const had = new Map<string, Set<string>>();
  const { deliveries } = readWire091(frames);
  const runOf = runsInOrder(handled);
  for (const delivery of deliveries) {
    const run = runOf(nameOf(delivery));
    const seen = had.get(keyOf(contract, run)) ?? new Set();
    had.set(keyOf(contract, run), seen);
    for (const each of Object.keys(headersOf(delivery))) seen.add(each);
    if ("userId" in delivery.properties) seen.add("user-id");
  }
  const pruned = (operations: readonly Operation[], isOf: (key: string) => boolean): readonly Operation[] => {
    const seen = new Set([...had].flatMap(([key, names]) => (isOf(key) ? [...names] : [])));
    return operations.map((each) =>
      each.operation === "basic.publish"
        ? {
            ...each,
            removeHeaders: each.removeHeaders.filter((name) => seen.has(name)),
            removeProperties: each.removeProperties.filter((name) => seen.has(name)) as never,
          }
        : each,
    );
  };
  const prunedOutcome = (outcome: Outcome, name: string): Outcome =>
    "byAttempt" in outcome
      ? { byAttempt: outcome.byAttempt.map((each, index) => pruned(each, (key) => key === `${name} ${index + 1}`)) }
      : pruned(outcome, (key) => key.startsWith(`${name} `));
  const { outcomes, retryAfter } = contract;
  return {
    ...contract,
    outcomes: {
      success: prunedOutcome(outcomes.success, "success"),
      transient: prunedOutcome(outcomes.transient, "transient"),
      permanent: prunedOutcome(outcomes.permanent, "permanent"),
      return: prunedOutcome(outcomes.return, "return"),
    },
    ...(retryAfter === undefined
      ? {}
      : {
          retryAfter: retryAfter.map((step, index) => ({
            ...step,
            ...(prunedOutcome(step, `step ${index}`) as { readonly byAttempt: typeof step.byAttempt }),
          })),
        }),
  };
}

/** The key of the list of operations that a run ended in. */
function keyOf({ retryAfter = [] }: Contract, { decision, attempt }: Handled): string {
  if (typeof decision === "string" || !("askMs" in decision)) return `${endingOf(decision)} ${attempt}`;
  const step = retryAfter.findIndex(({ upToMs }) => upToMs >= decision.askMs);
  return `step ${step === -1 ? retryAfter.length - 1 : step} ${attempt}`;
}
