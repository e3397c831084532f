import { testedChanges } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** The rule $Default. */
export const servicebusDefaultRule = topologyRule({
  name: "servicebus-default-rule",
  description: "The rules of a subscription of Service Bus decide what comes in.",
  severity: "high",
  tags: ["servicebus", "subscriptions", "filters"],
  framework: testedChanges,
  why: "Azure makes a rule named $Default with every subscription, and it lets in everything. One rule that lets a message in is enough, so the filters beside it do nothing: the consumer of placed orders handles the cancelled ones as well.",
  remediationSteps: "Give $Default the filter 1=0 with the resource DefaultRule, or delete it.",
  broker: "servicebus",
  codes: ["RD751"],
});
