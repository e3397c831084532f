import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Circles of dead-letter queues. */
export const sqsRedriveCycle = topologyRule({
  name: "sqs-redrive-cycle",
  description: "Dead-letter queues of SQS lead to an end.",
  severity: "high",
  tags: ["sqs", "dead letters"],
  framework: watchedQueues,
  why: "Two queues that are each other's dead-letter queues keep a message that always fails going round for as long as anybody receives, and every receive is paid for.",
  remediationSteps: "Take the redrive policy away from the dead-letter queue.",
  broker: "sqs",
  codes: ["RD444", "RD445"],
});
