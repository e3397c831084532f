import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** The dead-letter target. */
export const rabbitmqDeadLetterTarget = topologyRule({
  name: "rabbitmq-dead-letter-target",
  description: "Dead letters of a RabbitMQ queue arrive in a queue.",
  severity: "critical",
  tags: ["rabbitmq", "dead letters", "data loss"],
  framework: watchedQueues,
  why: "RabbitMQ does not look whether a dead-letter exchange exists or has a binding. With a typing error in a routing key every message that dies is deleted, without an error and without a line in the log.",
  remediationSteps:
    "Declare the dead-letter exchange, and bind a dead queue to it with the keys that the dead letters have. Where another stack makes them, say so with a waiver.",
  broker: "rabbitmq",
  codes: ["RD411", "RD412", "RD429"],
});
