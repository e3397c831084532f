import type { MessageState } from "./message-state.ts";
import type { VersionRules } from "./version.ts";

/**
 * The count that the broker compares with the delivery limit. No other count decides anything. Delayed retry looks at
 * failures, but it exists only where the limit counts failures too.
 *
 * Source: `rabbit_fifo:return_one` (3.10.8, 4.0.5, 4.3.5).
 */
export function comparedCount(rules: VersionRules, state: MessageState): number {
  return rules.limitCounts === "returns" && rules.countsFailures ? state.acquiredCount : state.deliveryCount;
}

/** Sets the compared count of a message and moves the other count by the same difference. */
export function withComparedCount(rules: VersionRules, state: MessageState, count: number): MessageState {
  const more = count - comparedCount(rules, state);
  return { ...state, deliveryCount: state.deliveryCount + more, acquiredCount: state.acquiredCount + more };
}
