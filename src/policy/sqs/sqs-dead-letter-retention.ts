import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Dead-letter retention. */
export const sqsDeadLetterRetention = topologyRule({
  name: "sqs-dead-letter-retention",
  description: "SQS keeps dead letters longer than the messages of the queue they come from.",
  severity: "high",
  tags: ["sqs", "dead letters", "data loss"],
  framework: watchedQueues,
  why: "On a standard queue a dead letter keeps the time at which it was sent. With 4 days in both queues, one that died on its fourth day is deleted within hours of its arrival, before anybody has looked.",
  remediationSteps:
    "Set messageRetentionSeconds of the dead-letter queue to 1209600, the 14 days that SQS keeps a message at most.",
  broker: "sqs",
  codes: ["RD448"],
});
