import type { MessageState } from "./message-state.ts";
import type { VersionRules } from "./version.ts";

/**
 * The count that is compared with the delivery limit, and the only one that decides anything: delayed retry, which looks at failures, is
 * there only where the limit counts failures too.
 *
 * Source: `rabbit_fifo:return_one` (3.10.8, 4.0.5, 4.3.5).
 */
export function comparedCount(rules: VersionRules, state: MessageState): number {
  return rules.limitCounts === "returns" && rules.countsFailures ? state.acquiredCount : state.deliveryCount;
}
