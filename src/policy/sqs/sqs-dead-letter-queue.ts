import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** A dead-letter queue. */
export const sqsDeadLetterQueue = topologyRule({
  name: "sqs-dead-letter-queue",
  description: "Every SQS queue has a dead-letter queue.",
  severity: "high",
  tags: ["sqs", "dead letters", "data loss"],
  framework: watchedQueues,
  why: "A message that fails again and again is received until it is as old as the retention period. Then SQS deletes it, and nobody hears of it.",
  remediationSteps:
    "Give the queue a redrivePolicy with a dead-letter queue of its own. Queues that others name as their dead-letter queue are recognised, and need none.",
  broker: "sqs",
  codes: ["RD440"],
});
