import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Losses in a cycle. */
export const rabbitmqDeadLetterCycle = topologyRule({
  name: "rabbitmq-dead-letter-cycle",
  description: "No message is dropped on its way round RabbitMQ's dead-letter exchanges.",
  severity: "critical",
  tags: ["rabbitmq", "dead letters", "data loss"],
  framework: watchedQueues,
  why: "A work queue and a wait queue that dead-letter to each other look like a retry. A message whose consumer crashes too often goes into the wait queue by the delivery limit, and when it comes back the broker takes it for a circle and drops it: exactly the messages that matter.",
  remediationSteps:
    "Route by the reason of death, with a headers exchange on x-last-death-reason: what was rejected waits, everything else goes to a dead queue. Redeliver compiles such a topology from a declaration.",
  broker: "rabbitmq",
  codes: ["RD413"],
});
