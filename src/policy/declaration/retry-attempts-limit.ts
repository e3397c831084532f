import { z } from "zod";

import { limitedRetries } from "../frameworks.ts";
import { declarationRule } from "../rule.ts";
import { numberBudget } from "../settings.ts";

/** Most attempts. */
export const retryAttemptsLimit = declarationRule({
  name: "retry-attempts-limit",
  description: "A message is attempted no more often than the organisation allows.",
  severity: "medium",
  tags: ["retries", "budget"],
  framework: limitedRetries,
  why: "A dependency that is down gets every message as many times as there are attempts. Fifty attempts instead of five are ten times the load on it when it comes back, and it goes down again.",
  remediationSteps:
    "Lower retry.attempts. Where a long outage has to be survived, raise the delays instead: five attempts cover an hour with exponential backoff.",
  config: z.object({ max: numberBudget(1, 10, "The most attempts of a message, the first one included.") }),
  judge({ retried }, { max }) {
    return retried
      .filter(({ retry }) => retry.attempts.length > max)
      .map(({ consumer, retry }) => ({
        part: consumer,
        message: `a message is attempted ${retry.attempts.length} times; the limit is ${max}`,
        help: `lower consumers.${consumer}.retry.attempts to ${max}, and raise the delays where an outage has to be survived`,
      }));
  },
});
