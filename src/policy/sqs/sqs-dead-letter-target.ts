import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** The dead-letter target. */
export const sqsDeadLetterTarget = topologyRule({
  name: "sqs-dead-letter-target",
  description: "A message of SQS can be moved to the dead-letter queue that is named.",
  severity: "critical",
  tags: ["sqs", "dead letters", "data loss"],
  framework: watchedQueues,
  why: "AWS accepts a redrive policy at one time, and does not look again when the dead-letter queue is deleted or restricted. Emulators accept even what AWS refuses, so the mistake comes out in production.",
  remediationSteps:
    "Name a dead-letter queue of the same type, account and region, and let its redriveAllowPolicy list the queue.",
  broker: "sqs",
  codes: ["RD441", "RD442", "RD443", "RD452"],
});
