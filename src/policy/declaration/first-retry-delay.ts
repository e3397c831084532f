import { z } from "zod";

import { formatDurationMs, parseDurationMs } from "../../declare/duration.ts";
import { limitedRetries } from "../frameworks.ts";
import { declarationRule } from "../rule.ts";
import { durationBudget } from "../settings.ts";

/** Shortest first delay. */
export const firstRetryDelay = declarationRule({
  name: "first-retry-delay",
  description: "The first retry waits long enough for what failed to have a chance to recover.",
  severity: "medium",
  tags: ["retries", "budget"],
  framework: limitedRetries,
  why: "Retries without a delay are over before anything can have changed: five attempts at once fail for the same reason within milliseconds, and a restart of the database that takes two seconds fills the dead queue.",
  remediationSteps:
    "Raise the first delay of retry.backoff. It costs that much time on a failure that would have been over at once.",
  config: z.object({ min: durationBudget("1s", "The shortest delay before the second attempt.") }),
  judge({ retried }, { min }) {
    const leastMs = parseDurationMs(min);
    return retried.flatMap(({ consumer, retry }) => {
      const second = retry.attempts[1];
      if (second === undefined || second.delayMs >= leastMs) return [];
      return [
        {
          part: consumer,
          message: `the second attempt comes ${second.delayMs === 0 ? "at once" : `after ${formatDurationMs(second.delayMs)}`}; it has to wait for ${min} at least`,
          help: `begin consumers.${consumer}.retry.backoff with ${min}`,
        },
      ];
    });
  },
});
