import { testedChanges } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Deliveries of subscriptions. */
export const snsSubscriptionDelivery = topologyRule({
  name: "sns-subscription-delivery",
  description: "What an SNS topic publishes arrives in the queue.",
  severity: "critical",
  tags: ["sns", "sqs", "data loss"],
  framework: testedChanges,
  why: "The subscription looks sound, publishers get no error, and nothing arrives: the queue's policy does not let the topic in, or no message ever meets the filter.",
  remediationSteps:
    "Let the policy of the queue allow sns.amazonaws.com for this topic, name an existing queue of a fitting type, and correct the filter.",
  broker: "sqs",
  codes: ["RD457", "RD458", "RD459", "RD461", "RD464"],
});
