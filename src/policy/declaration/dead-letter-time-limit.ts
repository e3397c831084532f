import { z } from "zod";

import { formatDurationMs, parseDurationMs } from "../../declare/duration.ts";
import { watchedQueues } from "../frameworks.ts";
import { declarationRule } from "../rule.ts";
import { durationBudget } from "../settings.ts";

/** Longest time to dead letter. */
export const deadLetterTimeLimit = declarationRule({
  name: "dead-letter-time-limit",
  description: "A message that cannot be handled reaches the dead queue, and so a person, in time.",
  severity: "medium",
  tags: ["dead letters", "budget"],
  framework: watchedQueues,
  why: "Nobody is told about a message while it is retried. An order that is retried for three days is noticed on the fourth, when the customer has called.",
  remediationSteps:
    "Lower retry.attempts or the longest delay, or set retry.giveUpAfter. What took longer than that to recover is replayed from the dead queue.",
  config: z.object({
    max: durationBudget("1d", "The longest time from the first delivery to the dead queue, in the worst case."),
  }),
  judge({ retried }, { max }) {
    const mostMs = parseDurationMs(max);
    return retried
      .filter(({ retry }) => retry.worstCaseToDeadLetterMs > mostMs)
      .map(({ consumer, retry }) => ({
        part: consumer,
        message: `a message reaches the dead queue after ${formatDurationMs(retry.worstCaseToDeadLetterMs)} at the latest; the limit is ${max}`,
        help: `set consumers.${consumer}.retry.giveUpAfter, or lower the attempts or the longest delay`,
      }));
  },
});
