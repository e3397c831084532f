import { z } from "zod";

import { limitedRetries } from "../frameworks.ts";
import { declarationRule } from "../rule.ts";

/** Permanent errors. */
export const permanentErrorsListed = declarationRule({
  name: "permanent-errors-listed",
  description: "The errors that no retry can help are named.",
  severity: "low",
  tags: ["retries", "errors"],
  framework: limitedRetries,
  why: "A message that fails validation fails it five times. It holds up the queue, hides among the transient failures, and reaches a person only after the whole schedule.",
  remediationSteps:
    "List the names of such errors in errors.permanent, such as ValidationError. They go to the dead queue after one attempt.",
  config: z.object({}),
  judge({ retried }) {
    return retried
      .filter(({ retry }) => retry.attempts.length > 1 && retry.permanentErrors.length === 0)
      .map(({ consumer, retry }) => ({
        part: consumer,
        message: `no error is permanent, so a message that can never be handled is attempted ${retry.attempts.length} times`,
        help: `list the names of permanent errors in consumers.${consumer}.errors.permanent`,
      }));
  },
});
