import { limitedRetries } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Enough deliveries. */
export const servicebusDeliveryCount = topologyRule({
  name: "servicebus-delivery-count",
  description: "A message of Service Bus is delivered more than once before it is dead.",
  severity: "medium",
  tags: ["servicebus", "retries"],
  framework: limitedRetries,
  why: "A delivery counts when a lock runs out, too. With a max delivery count of 1 every restart of a consumer sends what it had in hand to the dead-letter queue, tried or not.",
  remediationSteps:
    "Raise maxDeliveryCount to as many deliveries as crashes of a consumer are to be survived, 3 for example.",
  broker: "servicebus",
  codes: ["RD747", "RD753"],
});
