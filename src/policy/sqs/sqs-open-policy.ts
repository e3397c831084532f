import { controlledAccess } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Open policies. */
export const sqsOpenPolicy = topologyRule({
  name: "sqs-open-policy",
  description: "Not everybody may send to an SQS queue.",
  severity: "critical",
  tags: ["sqs", "access"],
  framework: controlledAccess,
  why: 'A statement with the principal "*" and no condition lets any account of AWS fill the queue, and requests that nobody signed.',
  remediationSteps: "Name the accounts or services that send, or add a condition such as aws:SourceArn.",
  broker: "sqs",
  codes: ["RD455"],
});
