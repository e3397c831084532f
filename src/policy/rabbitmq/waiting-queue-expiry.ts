import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Queues that expire. */
export const rabbitmqWaitingQueueExpiry = topologyRule({
  name: "rabbitmq-waiting-queue-expiry",
  description: "No RabbitMQ queue that holds waiting messages can expire.",
  severity: "critical",
  tags: ["rabbitmq", "data loss"],
  framework: watchedQueues,
  why: "Nobody consumes a wait queue or a dead queue, so with x-expires the broker takes it for unused and deletes it, with every message in it.",
  remediationSteps: "Take x-expires away from queues that nobody consumes.",
  broker: "rabbitmq",
  codes: ["RD419", "RD426"],
});
