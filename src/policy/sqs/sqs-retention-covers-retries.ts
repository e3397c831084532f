import { limitedRetries } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Retention and retries. */
export const sqsRetentionCoversRetries = topologyRule({
  name: "sqs-retention-covers-retries",
  description: "SQS keeps a message until its retries are over.",
  severity: "critical",
  tags: ["sqs", "data loss", "retries"],
  framework: limitedRetries,
  why: "Retention deletes a message by its age and never moves it. Where the receives take longer than that, a message is gone before its last attempt.",
  remediationSteps: "Raise messageRetentionSeconds of the queue, or lower maxReceiveCount or the visibility timeout.",
  broker: "sqs",
  codes: ["RD449"],
});
