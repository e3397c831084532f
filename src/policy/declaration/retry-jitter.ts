import { z } from "zod";

import type { RetriedConsumer } from "../component.ts";
import { limitedRetries } from "../frameworks.ts";
import { declarationRule } from "../rule.ts";
import { numberBudget } from "../settings.ts";

/** Jitter above a fan-in. */
export const retryJitter = declarationRule({
  name: "retry-jitter",
  description: "A consumer that many routing keys lead to spreads its retries.",
  severity: "low",
  tags: ["retries", "load"],
  framework: limitedRetries,
  why: "Messages that fail together come back together. Where many publishers meet in one consumer, an outage of a minute becomes a wave at every delay of the schedule, each as high as everything that failed at once.",
  remediationSteps:
    'Add jitter: "20%" to retry.backoff. On RabbitMQ no queue spreads delays by itself: the strategy becomes deferred or waits, where the consumer sets the delay.',
  config: z.object({
    mostKeys: numberBudget(
      0,
      5,
      "So many routing keys may lead to a consumer without jitter; a pattern counts as one.",
    ),
  }),
  judge({ retried }, { mostKeys }) {
    return retried
      .filter(({ retry }) => retry.jitterPercent === 0 && retry.attempts.some(({ delayMs }) => delayMs > 0))
      .filter((consumer) => keysOf(consumer) > mostKeys)
      .map((each) => ({
        part: each.consumer,
        message: `${keysOf(each)} routing keys lead to it and its retries have no jitter; without it the limit is ${mostKeys}`,
        help: `add jitter: "20%" to consumers.${each.consumer}.retry.backoff`,
      }));
  },
});

function keysOf({ from }: RetriedConsumer): number {
  return Object.values(from).reduce((sum, keys) => sum + (keys === "all" ? 1 : keys.length), 0);
}
