import { z } from "zod";

import { testedChanges } from "../frameworks.ts";
import { declarationRule } from "../rule.ts";

/**
 * Says which components could not be judged, so that no other rule is silent about them without a reason.
 * It has nothing to find in a component that was read.
 */
export const declarationReadable = declarationRule({
  name: "declaration-readable",
  description: "The declaration of every component can be judged.",
  severity: "medium",
  isOnlyAdvice: true,
  tags: ["policy pack"],
  framework: testedChanges,
  why: "A component of another version of Redeliver may have inputs of another form. If every rule was just silent about it, the run would look as if all was well.",
  remediationSteps: "Use the same version of Redeliver in the program and in the policy pack.",
  config: z.object({}),
  judge: () => [],
});
