import { testedChanges } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Overlapping policies. */
export const rabbitmqPolicyOverlap = topologyRule({
  name: "rabbitmq-policy-overlap",
  description: "RabbitMQ policies do not set each other aside.",
  severity: "high",
  tags: ["rabbitmq", "configuration"],
  framework: testedChanges,
  why: "Of all policies that match a queue only the one with the highest priority counts. A new policy for a length limit takes the dead-letter exchange away that another one gave to all queues, and nobody sees it.",
  remediationSteps: "Say everything about a queue in one policy, with an anchored pattern such as ^orders$.",
  broker: "rabbitmq",
  codes: ["RD422"],
});
