import { z } from "zod";

import { about, duration, jitterPattern, limits, wholeNumber } from "./schema-parts.ts";

const jitter = about(
  z.string().regex(jitterPattern).optional(),
  "The largest share of the delay to add at random, so that messages that failed together do not return together. It is added to `max`, too. The default is none.",
  "20%",
);
const max = about(duration.optional(), "The longest delay. The default is no limit.", "1m");

const backoff = about(
  z.discriminatedUnion("kind", [
    z.strictObject({
      kind: about(z.literal("immediate"), "No delay: the next attempt is due at once."),
    }),
    z.strictObject({
      kind: about(z.literal("constant"), "The same delay before each attempt."),
      delay: about(duration, "The delay before each attempt after the first.", "30s"),
      jitter,
    }),
    z.strictObject({
      kind: about(z.literal("linear"), "A delay that grows by the same step each time."),
      first: about(duration, "The delay before the second attempt.", "10s"),
      step: about(duration.optional(), "The growth of the delay. The default is the value of `first`.", "10s"),
      max,
      jitter,
    }),
    z.strictObject({
      kind: about(z.literal("exponential"), "A delay that grows by the same factor each time."),
      first: about(duration, "The delay before the second attempt.", "1s"),
      factor: about(z.number().min(1).max(1_000_000), "The factor from one delay to the next, at least 1.", 2),
      max,
      jitter,
    }),
    z.strictObject({
      kind: about(z.literal("steps"), "A list of delays."),
      delays: about(z.array(duration), "The delays: exactly one for each attempt after the first.", [
        "1s",
        "10s",
        "1m",
        "10m",
      ]),
    }),
  ]),
  "The delay of a failed message before its next attempt.",
  { kind: "constant", delay: "30s" },
  { kind: "immediate" },
  { kind: "linear", first: "10s", max: "1m" },
  { kind: "exponential", first: "1s", factor: 2, max: "1m" },
  { kind: "steps", delays: ["1s", "10s", "1m", "10m"] },
);

/** The attempts of a consumer. */
export const retry = z.strictObject({
  attempts: about(
    wholeNumber.min(1).max(limits.attempts),
    "The most handler runs on one message, including the first. From 1, which means no retry, to 1,000.",
    5,
  ),
  backoff,
  giveUpAfter: about(
    duration.optional(),
    "The latest start of an attempt, counted from the first one. Later attempts are left out. The default is no limit.",
    "24h",
  ),
  retryAfter: about(
    z
      .strictObject({
        max: about(duration, "The longest delay that a handler may ask for, at least 1s.", "5m"),
      })
      .optional(),
    "Lets the handler ask for a delay of its own, up to `max`, like a Retry-After header. The default is not to.",
    { max: "5m" },
  ),
});
