import { z } from "zod";

import { formatDurationMs, parseDurationMs } from "../../declare/duration.ts";
import { watchedQueues } from "../frameworks.ts";
import { declarationRule } from "../rule.ts";
import { durationBudget } from "../settings.ts";

/** Dead-letter retention. */
export const deadLetterRetention = declarationRule({
  name: "dead-letter-retention",
  description: "Dead letters are declared to be kept until somebody has had time to look at them.",
  severity: "high",
  tags: ["dead letters", "data loss"],
  framework: watchedQueues,
  why: "A dead queue that keeps messages for four days has lost those of Thursday night by Tuesday morning after a long weekend, without a word.",
  remediationSteps:
    "Set deadLetter.retain. Where a broker cannot keep them so long, the declaration is refused; then archive dead letters elsewhere.",
  config: z.object({ min: durationBudget("7d", "How long dead letters have to be kept at least.") }),
  judge({ retried }, { min }) {
    const leastMs = parseDurationMs(min);
    return retried.flatMap(({ consumer, retry: { retainMs } }) => {
      if (retainMs !== null && retainMs >= leastMs) return [];
      const declared = retainMs === null ? "nothing is declared" : `declared is ${formatDurationMs(retainMs)}`;
      return [
        {
          part: consumer,
          message: `dead letters have to be kept for ${min} at least; ${declared}`,
          help: `set consumers.${consumer}.deadLetter.retain to "${min}" or more`,
        },
      ];
    });
  },
});
