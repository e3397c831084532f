import { limitedRetries } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Limits of retries. */
export const rabbitmqRetryLimit = topologyRule({
  name: "rabbitmq-retry-limit",
  description: "Every retry on RabbitMQ comes to an end by itself.",
  severity: "high",
  tags: ["rabbitmq", "retries"],
  framework: limitedRetries,
  why: "A message that takes its consumer down comes back at once and takes down the next one. Without a limit that the broker keeps, one malformed message stops a whole fleet of consumers.",
  remediationSteps:
    "Let the broker count: a quorum queue with a delivery limit and a dead-letter exchange. A topology where only the consumer counts needs a waiver that says how it does so.",
  broker: "rabbitmq",
  codes: ["RD414", "RD415", "RD416"],
});
