import { idempotence } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Windows of duplicate detection. */
export const servicebusDuplicateWindow = topologyRule({
  name: "servicebus-duplicate-window",
  description: "Duplicate detection of Service Bus outlasts a lock.",
  severity: "medium",
  tags: ["servicebus", "duplicates", "locks"],
  framework: idempotence,
  why: "A consumer sends a message, and crashes before it completes its own. That one comes back when the lock has run out, and is sent again. If the window is over by then, the second is taken for new, and the customer is charged twice.",
  remediationSteps:
    "Set duplicateDetectionHistoryTimeWindow to longer than lockDuration, such as PT10M. A longer window costs a little throughput.",
  broker: "servicebus",
  codes: ["RD750"],
});
