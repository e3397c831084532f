import type { QueueKind } from "./broker-topology.ts";
import type { MessageState } from "./message-state.ts";
import type { VersionRules } from "./version.ts";

/** The counts that a consumer is given with a message; null for a header that is not there. */
export interface DeliveryHeaders {
  readonly "x-delivery-count": number | null;
  readonly "x-acquired-count": number | null;
}

/**
 * What a consumer of a queue sees. Classic queues tell nothing.
 *
 * A message that died in another quorum queue before shows the failures of all its queues, on its first delivery in this one as if it had
 * been acquired as often. Source: `rabbit_fifo_client:add_delivery_count_header/2` (3.10.8, 4.0.5, 4.3.5).
 */
export function deliveryHeaders(state: MessageState, kind: QueueKind, rules: VersionRules): DeliveryHeaders {
  const { deliveryCount, acquiredCount } = state;
  if (kind !== "quorum") return { "x-delivery-count": null, "x-acquired-count": null };
  if (!rules.countsFailures) return { "x-delivery-count": deliveryCount || null, "x-acquired-count": null };
  const acquired = acquiredCount || deliveryCount || null;
  if (rules.limitCounts === "returns") return { "x-delivery-count": acquired, "x-acquired-count": null };
  return { "x-delivery-count": deliveryCount || null, "x-acquired-count": acquired };
}
