import { limitedRetries } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Delays by a time to live. */
export const servicebusDelayByExpiry = topologyRule({
  name: "servicebus-delay-by-expiry",
  description: "Service Bus delays retries by scheduled messages.",
  severity: "medium",
  tags: ["servicebus", "retries", "delays"],
  framework: limitedRetries,
  why: "Retry queues with a time to live come from RabbitMQ. Service Bus promises no time at which a message expires, and what was forwarded carries its time to live along: it runs again in the work queue, and an order that waits there behind others expires before it was tried.",
  remediationSteps:
    "Let the consumer schedule a copy for the time of the next attempt, and complete the message after that.",
  broker: "servicebus",
  codes: ["RD749"],
});
