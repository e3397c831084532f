import { testedChanges } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Tiers of a namespace. */
export const servicebusTier = topologyRule({
  name: "servicebus-tier",
  description: "A namespace of Service Bus is in a tier that has what it is to hold.",
  severity: "high",
  tags: ["servicebus", "deployment"],
  framework: testedChanges,
  why: "The basic tier has queues and nothing else: no topics, no sessions, no duplicate detection, no forwarding. A preview knows nothing of that, so the deployment ends half-way: the queues are there, and what was to send to them is not.",
  remediationSteps: "Set the sku of the namespace to Standard, which is paid for by the hour and by the operation.",
  broker: "servicebus",
  codes: ["RD752"],
});
