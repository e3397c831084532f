import { testedChanges } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Settings without effect. */
export const rabbitmqEffectiveSettings = topologyRule({
  name: "rabbitmq-effective-settings",
  description: "Every setting of a RabbitMQ queue has an effect.",
  severity: "high",
  tags: ["rabbitmq", "configuration"],
  framework: testedChanges,
  why: "The provider sends what is in `arguments` as texts, and RabbitMQ passes over a delivery limit that is a text. The program says 5, the queue says nothing, and a poisoned message goes round for ever.",
  remediationSteps:
    'Write arguments that are numbers in argumentsJson, or set them by a policy, whose values the broker checks. Delivery limits below 0 mean "none" only from 4.0 on.',
  broker: "rabbitmq",
  codes: ["RD423", "RD430"],
});
