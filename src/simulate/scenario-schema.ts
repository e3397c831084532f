import { z } from "zod";

import { durationPattern, parseDurationMs } from "../declare/duration.ts";
import { limits } from "../declare/schema-parts.ts";

/** The form of a share: from 0% to 100%, with up to six digits after the point. */
export const sharePattern: RegExp = /^(100(\.0{1,6})?|[0-9]{1,2}(\.[0-9]{1,6})?)%$/;

const text = z
  .string()
  .regex(durationPattern)
  .meta({ description: 'A whole number and a unit: "250ms", "30s", "5m", "2h", "14d".' });
/** For longer durations a clock that counts microseconds would not be exact any more. */
const duration = text.refine((written) => isWithin(written, 0), { error: "is not a duration of at most 3650d" });
/** A period without length has no rate. */
const length = text.refine((written) => isWithin(written, 1), { error: "is not a duration from 1ms to 3650d" });
function isWithin(written: string, leastMs: number): boolean {
  // The pattern has already reported a text that is no duration.
  if (!durationPattern.test(written)) return true;
  const durationMs = parseDurationMs(written);
  return durationMs >= leastMs && durationMs <= limits.delayMs;
}

const share = z.string().regex(sharePattern).meta({ description: 'A percentage: "2%", "0.05%".' });
const wholeNumber = z.number().int();

const arrivals = z
  .strictObject({
    perSecond: z.number().min(0).max(1_000_000_000).optional(),
    every: length.optional(),
  })
  .meta({ description: "perSecond: at random, so many on average; every: one at once, then one each time." });

const shares = {
  transient: share.optional(),
  retryAfter: share.optional(),
  permanent: share.optional(),
  crash: share.optional(),
};

const consumer = z.strictObject({
  arrivals: arrivals.optional(),
  instances: wholeNumber.min(1).max(100_000).optional(),
  prefetch: wholeNumber.min(1).max(65_535).optional(),
  concurrency: wholeNumber.min(1).max(65_535).optional(),
  handlingTime: z.strictObject({ from: length, to: length }).optional(),
  restart: length.optional(),
  outcomes: z.strictObject({ ...shares, return: share.optional() }).optional(),
  poison: z.strictObject(shares).optional(),
});

const event = {
  from: duration,
  to: duration,
  consumers: z.array(z.string()).min(1).optional(),
};

const events = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("outage"),
    ...event,
    outcome: z.enum(["transient", "crash"]).optional(),
    failsAfter: length.optional(),
  }),
  z.strictObject({ kind: z.literal("stopped"), ...event }),
  z.strictObject({ kind: z.literal("burst"), ...event, factor: z.number().min(0).max(1_000_000) }),
]);

/** The schema of a scenario, as written in JSON or YAML. `check-scenario.ts` has the rules across fields. */
export const scenarioSchema = z.strictObject({
  duration: length.optional(),
  drain: duration.optional(),
  seed: wholeNumber.min(0).max(0xffff_ffff).optional(),
  everyConsumer: consumer.optional(),
  consumers: z.record(z.string(), consumer).optional(),
  events: z.array(events).optional(),
});

export type ScenarioInput = z.output<typeof scenarioSchema>;
export type ConsumerInput = z.output<typeof consumer>;
export type EventInput = z.output<typeof events>;
