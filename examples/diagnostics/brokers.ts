import { rabbitmqExamples } from "./rabbitmq/examples.ts";
import { sqsExamples } from "./sqs/examples.ts";
import { servicebusExamples } from "./servicebus/examples.ts";

/** The examples of all brokers. They lie apart from the codes, because only `explain` and the pages load them. */
export const brokerExamples = {
  ...rabbitmqExamples,
  ...sqsExamples,
  ...servicebusExamples,
} as const;
