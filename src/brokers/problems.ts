import { auditProblems } from "./audit-problems.ts";
import { compileProblems } from "./compile-problems.ts";
import { rabbitmqProblems } from "./rabbitmq/problems.ts";
import { sqsProblems } from "./sqs/problems.ts";
import { readProblems } from "./read-problems.ts";
import { runProblems } from "./run-problems.ts";
import { servicebusProblems } from "./servicebus/problems.ts";

/** The codes of all brokers, and the shared ones whose explanation names each broker's own. */
export const brokerProblems = {
  ...auditProblems,
  ...compileProblems,
  ...readProblems,
  ...runProblems,
  ...rabbitmqProblems,
  ...sqsProblems,
  ...servicebusProblems,
} as const;

/** The first digits of the codes of targets: those of several brokers or of RabbitMQ, and those of one other broker. */
export const brokerRanges: readonly { readonly prefix: string; readonly title: string }[] = [
  { prefix: "RD2", title: "Compiling for a target" },
  { prefix: "RD6", title: "Compiling for Amazon SQS alone" },
  { prefix: "RD7", title: "Azure Service Bus alone, with its audit" },
];
