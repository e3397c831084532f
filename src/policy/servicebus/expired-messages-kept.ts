import { watchedQueues } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** What becomes of expired messages. */
export const servicebusExpiredMessagesKept = topologyRule({
  name: "servicebus-expired-messages-kept",
  description: "Service Bus dead-letters what expires.",
  severity: "critical",
  tags: ["servicebus", "dead letters", "data loss"],
  framework: watchedQueues,
  why: "Where nothing is said, Service Bus deletes a message whose time to live is over. A consumer is down for one night, and the orders of that night are gone without a trace. In a queue that dead letters are forwarded to, the same deletes the dead letters before anybody has looked.",
  remediationSteps: "Set deadLetteringOnMessageExpiration to true, or give the entity no defaultMessageTimeToLive.",
  broker: "servicebus",
  codes: ["RD746", "RD748"],
});
