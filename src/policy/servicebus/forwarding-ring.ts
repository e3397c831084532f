import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Rings of forwarding. */
export const servicebusForwardingRing = topologyRule({
  name: "servicebus-forwarding-ring",
  description: "What Service Bus forwards does not come back.",
  severity: "critical",
  tags: ["servicebus", "forwarding", "loops"],
  framework: watchedQueues,
  why: "Two queues that forward to each other were each sensible on the day they were made. Service Bus forwards a message four times and then dead-letters it where it is: nobody receives any message, and every hop is paid for. Dead letters that go round have their delivery count started again each time.",
  remediationSteps: "Forward to a queue that somebody receives from, and that forwards nothing itself.",
  broker: "servicebus",
  codes: ["RD743"],
});
