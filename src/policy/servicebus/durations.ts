import { testedChanges } from "../frameworks.ts";
import { topologyRule } from "../rule.ts";

/** Durations. */
export const servicebusDurations = topologyRule({
  name: "servicebus-durations",
  description: "Durations of Service Bus are in its bounds, and in minutes where minutes are meant.",
  severity: "high",
  tags: ["servicebus", "locks", "deployment"],
  framework: testedChanges,
  why: "Durations are plain text, and neither TypeScript nor Pulumi reads them. P5M is five months and not five minutes: as a lock it ends a deployment half-way, as a time to live it keeps for months what ought to be dead in minutes.",
  remediationSteps:
    "Write PT before minutes and seconds. A lock is from PT5S to PT5M long; where a handler takes longer, let the SDK renew it.",
  broker: "servicebus",
  codes: ["RD740", "RD741"],
});
