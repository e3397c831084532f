import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Dead letters of subscriptions. */
export const snsSubscriptionDeadLetterQueue = topologyRule({
  name: "sns-subscription-dead-letter-queue",
  description: "Every subscription of a queue to an SNS topic has a dead-letter queue.",
  severity: "high",
  tags: ["sns", "sqs", "dead letters", "data loss"],
  framework: watchedQueues,
  why: "What SNS cannot hand over, because a policy or a key was changed, it deletes after its own retries. The dead-letter queue of the queue never sees it.",
  remediationSteps: "Give the subscription a redrivePolicy with a queue that lets the topic in.",
  broker: "sqs",
  codes: ["RD456"],
});
