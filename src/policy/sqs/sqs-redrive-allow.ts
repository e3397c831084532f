import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Redrive-allow policies. */
export const sqsRedriveAllow = topologyRule({
  name: "sqs-redrive-allow",
  description: "A redrive-allow policy of SQS restricts something.",
  severity: "low",
  tags: ["sqs", "dead letters"],
  framework: watchedQueues,
  why: "A list of more than 10 source queues is no list: every queue of the account may use the dead-letter queue.",
  remediationSteps: "Give groups of consumers dead-letter queues of their own.",
  broker: "sqs",
  codes: ["RD453"],
});
