import { limitedRetries } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Enough receives. */
export const sqsReceiveCount = topologyRule({
  name: "sqs-receive-count",
  description: "A message of SQS is received often enough before it is dead.",
  severity: "medium",
  tags: ["sqs", "retries"],
  framework: limitedRetries,
  why: "SQS counts a receive when it sends the answer. With a single one a message is dead that no handler ever saw: the answer was lost, or Lambda was throttled.",
  remediationSteps: "Raise maxReceiveCount: to 2 at least, and to 5 at least where a Lambda function is called.",
  broker: "sqs",
  codes: ["RD446", "RD447"],
});
