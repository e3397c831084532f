import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** At-least-once dead-lettering. */
export const rabbitmqDeadLetterDelivery = topologyRule({
  name: "rabbitmq-dead-letter-delivery",
  description:
    "Dead letters of a RabbitMQ quorum queue are handed over at least once where that was asked for, and cannot block each other.",
  severity: "medium",
  tags: ["rabbitmq", "dead letters", "data loss"],
  framework: watchedQueues,
  why: "At-least-once dead-lettering that lacks one of its conditions is at-most-once, without a word: when the dead queue's node restarts, what dies in that moment is gone.",
  remediationSteps:
    "Set x-overflow to reject-publish beside x-dead-letter-strategy: at-least-once, and leave one queue of a circle without a length limit.",
  broker: "rabbitmq",
  codes: ["RD418", "RD432"],
});
