import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Dead letters that stay. */
export const rabbitmqDeadLettersKept = topologyRule({
  name: "rabbitmq-dead-letters-kept",
  description: "A RabbitMQ dead queue deletes nothing by itself.",
  severity: "high",
  tags: ["rabbitmq", "dead letters", "data loss"],
  framework: watchedQueues,
  why: "A dead queue with a length limit keeps the newest dead letters: in a large outage the first ones, which show its cause, are gone when somebody looks.",
  remediationSteps:
    "Take the time to live or the length limit away from the dead queue and watch its length instead. From 4.0 on set x-delivery-limit to -1 when the queue is made, so that looking at dead letters never deletes one.",
  broker: "rabbitmq",
  codes: ["RD421", "RD431"],
});
