import { testedChanges } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Delivery of what is forwarded. */
export const servicebusForwardingDelivery = topologyRule({
  name: "servicebus-forwarding-delivery",
  description: "What Service Bus forwards arrives.",
  severity: "critical",
  tags: ["servicebus", "forwarding", "data loss"],
  framework: testedChanges,
  why: "The fifth hop of a chain is never made: the message is dead in the middle of it, in a dead-letter queue that nobody looks at, and that dead letter is not forwarded either. Between entities with sessions nothing is forwarded at all, and Azure says so half-way through a deployment, in an error that does not name the reason.",
  remediationSteps:
    "Forward straight to the last queue of the chain, name it by the other resource's output so that it is created first, and do without sessions where messages are forwarded.",
  broker: "servicebus",
  codes: ["RD742", "RD744", "RD745"],
});
