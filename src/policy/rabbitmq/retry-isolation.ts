import { limitedRetries } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Retries that reach others. */
export const rabbitmqRetryIsolation = topologyRule({
  name: "rabbitmq-retry-isolation",
  description: "A retry on RabbitMQ reaches nobody but the consumer that failed.",
  severity: "high",
  tags: ["rabbitmq", "retries"],
  framework: limitedRetries,
  why: "A wait queue that gives messages back to the exchange they were published to gives them to every consumer again: the invoice is retried, and the parcel is sent a second time.",
  remediationSteps:
    "Let the wait queue dead-letter to the default exchange, with the name of the consumer's queue as its routing key.",
  broker: "rabbitmq",
  codes: ["RD424"],
});
