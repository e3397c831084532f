import { idempotence } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Batches of Lambda. */
export const sqsLambdaBatch = topologyRule({
  name: "sqs-lambda-batch",
  description: "A Lambda function answers for each message of SQS, and takes away no others.",
  severity: "medium",
  tags: ["sqs", "lambda", "data loss"],
  framework: idempotence,
  why: "One poisonous message fails its whole batch, again and again: nine sound messages lose a receive each time, and go to the dead-letter queue beside it.",
  remediationSteps:
    'Set functionResponseTypes to ["ReportBatchItemFailures"] and let the function answer with the messages that failed; filter in the subscription of the topic instead of the mapping.',
  broker: "sqs",
  codes: ["RD462", "RD463"],
});
