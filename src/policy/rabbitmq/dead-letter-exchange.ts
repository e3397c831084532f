import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** A dead-letter exchange. */
export const rabbitmqDeadLetterExchange = topologyRule({
  name: "rabbitmq-dead-letter-exchange",
  description: "A RabbitMQ queue has a place for its dead letters.",
  severity: "high",
  tags: ["rabbitmq", "dead letters", "data loss"],
  framework: watchedQueues,
  why: "From RabbitMQ 4.0 on every quorum queue gives a message up after 20 returns. In a queue without a dead-letter exchange, giving up is deleting.",
  remediationSteps:
    "Name a dead-letter exchange in the arguments of the queue or in a policy. A queue whose messages do not matter can be excluded by its name.",
  broker: "rabbitmq",
  codes: ["RD420"],
});
