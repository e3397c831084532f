import { z } from "zod";

import { limitedRetries } from "../frameworks.ts";
import { declarationRule } from "../rule.ts";

const promiseNames = [
  "no-loss",
  "no-loop",
  "attempts",
  "crash",
  "timing",
  "isolation",
  "permanent",
  "return",
  "exact-attempts",
  "order",
  "retention",
  "alarm",
] as const;

/** Promises that the broker has to keep. */
export const promisesKeptByBroker = declarationRule({
  name: "promises-kept-by-broker",
  description: "What must not depend on the code of a consumer is kept by the broker.",
  severity: "high",
  tags: ["data loss", "promises"],
  framework: limitedRetries,
  why: "A promise that the consumer keeps is broken by the first deployment that forgets it: one that no longer raises the attempt number, and a poisoned message goes round for ever.",
  remediationSteps:
    "Choose a schedule or a target with which the broker keeps the promise: redeliver check names the keeper of each. Without jitter RabbitMQ counts and delays by itself.",
  config: z.object({
    promises: z
      .array(z.enum(promiseNames))
      .default(["no-loss", "no-loop"])
      .meta({ description: "The promises whose keeper has to be the broker." }),
  }),
  judge({ promises, retried }, { promises: wanted }) {
    const consumers = new Set(retried.map(({ consumer }) => consumer));
    const isWanted = (name: string): boolean => wanted.some((each) => each === name);
    return promises
      .filter(({ consumer, promise, keeper }) => consumers.has(consumer) && isWanted(promise) && keeper !== "broker")
      .map(({ consumer, promise, keeper, statement }) => ({
        part: consumer,
        message: `the promise ${promise} is kept by ${keeper === "consumer" ? "the consumer's code" : "nobody"}: ${statement}`,
        help: "choose a strategy with which the broker keeps it, or waive the rule for this consumer",
      }));
  },
});
