import { testedChanges } from "./frameworks.ts";
import { topologyRule } from "./rule.ts";

/** Says what of a stack could not be judged, so that no other rule is silent about it without a reason. */
export const topologyReadable = topologyRule({
  name: "topology-readable",
  description: "Every queue of the stack, and what is around it, can be judged.",
  severity: "medium",
  isOnlyAdvice: true,
  tags: ["policy pack"],
  framework: testedChanges,
  why: "A resource of another version of its provider, or of a type that a plugin adds, may have a form that is not known here. If the rules were just silent about it, the run would look as if all was well.",
  remediationSteps:
    "Use a version of the provider that this version of Redeliver knows, write a policy's pattern in a simpler way, or exclude what does not have to be judged.",
  broker: null,
  codes: ["RD201", "RD402", "RD404", "RD405", "RD406", "RD409", "RD427", "RD428"],
});
