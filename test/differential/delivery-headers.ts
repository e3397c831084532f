import { type MessageState, type Semantics, versionRules } from "../../src/brokers/rabbitmq/prove/semantics.ts";

/** The counts that a consumer receives with a message; null for a missing header. */
interface DeliveryHeaders {
  readonly "x-delivery-count": number | null;
  readonly "x-acquired-count": number | null;
}

/**
 * Computes the counts that a consumer of a queue sees. Classic queues send none.
 *
 * Suppose a message died in another quorum queue before. Its first delivery in this queue then shows the failures of
 * all its queues, also as its count of acquisitions. Source: `rabbit_fifo_client:add_delivery_count_header/2` (3.10.8,
 * 4.0.5, 4.3.5).
 */
export function deliveryHeaders({ settings, version }: Semantics, state: MessageState): DeliveryHeaders {
  const { place, deliveryCount, acquiredCount } = state;
  const kind = place.kind === "queue" ? settings(place.queue)?.kind : undefined;
  const rules = versionRules[version];
  if (kind !== "quorum") return { "x-delivery-count": null, "x-acquired-count": null };
  if (!rules.countsFailures) return { "x-delivery-count": deliveryCount || null, "x-acquired-count": null };
  const acquired = acquiredCount || deliveryCount || null;
  if (rules.limitCounts === "returns") return { "x-delivery-count": acquired, "x-acquired-count": null };
  return { "x-delivery-count": deliveryCount || null, "x-acquired-count": acquired };
}
