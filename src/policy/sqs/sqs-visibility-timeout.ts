import { idempotence } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Visibility timeouts. */
export const sqsVisibilityTimeout = topologyRule({
  name: "sqs-visibility-timeout",
  description: "A message of SQS stays hidden while it is handled.",
  severity: "high",
  tags: ["sqs", "lambda", "duplicates"],
  framework: idempotence,
  why: "A function may run for 60 seconds and its message is hidden for 30: it is handled twice at a time, the customer is charged twice, and the receives are used up.",
  remediationSteps:
    "Set visibilityTimeoutSeconds to 6 times the timeout of the function, with the batch window added, as AWS asks.",
  broker: "sqs",
  codes: ["RD450", "RD451", "RD460"],
});
