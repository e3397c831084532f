import { z } from "zod";

import { durationPattern } from "./duration.ts";

/** The bounds that a declaration is held to, whatever the broker. */
export const limits = {
  /** More attempts than this is a schedule, not a retry; every strategy's size grows with them. */
  attempts: 1_000,
  /** Ten years: the longest time to live RabbitMQ takes (`rabbit_misc:check_expiry/1`). */
  delayMs: 315_360_000_000,
  nameLength: 255,
  permanentErrors: 1_000,
} as const;

/** What a jitter looks like: a whole percentage from 1 to 100. */
export const jitterPattern: RegExp = /^([1-9][0-9]?|100)%$/;

const duration = z
  .string()
  .regex(durationPattern)
  .meta({ description: 'A whole number and a unit: "250ms", "30s", "5m", "2h", "14d".' });
const jitter = z
  .string()
  .regex(jitterPattern)
  .meta({ description: 'The share of the delay that is added to it at random: "20%".' });
const wholeNumber = z.number().int();

const backoff = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("immediate") }),
  z.strictObject({ kind: z.literal("constant"), delay: duration, jitter: jitter.optional() }),
  z.strictObject({
    kind: z.literal("linear"),
    first: duration,
    step: duration.optional(),
    max: duration.optional(),
    jitter: jitter.optional(),
  }),
  z.strictObject({
    kind: z.literal("exponential"),
    first: duration,
    factor: z.number().min(1).max(1_000_000),
    max: duration.optional(),
    jitter: jitter.optional(),
  }),
  z.strictObject({ kind: z.literal("steps"), delays: z.array(duration) }),
]);

const retry = z.strictObject({
  attempts: wholeNumber
    .min(1)
    .max(limits.attempts)
    .meta({ description: "How often the handler may run on one message; the first time counts." }),
  backoff,
  giveUpAfter: duration
    .optional()
    .meta({ description: "No attempt is scheduled later than this after the first one." }),
  retryAfter: z
    .strictObject({ max: duration })
    .optional()
    .meta({ description: "The handler may ask for a delay of its own, up to max (Retry-After)." }),
});

const name = z.string().min(1).max(limits.nameLength);

const consumer = z.strictObject({
  from: z
    .record(z.string(), z.union([z.literal("all"), z.array(z.string().min(1))]))
    .meta({ description: 'The routing keys taken from each source, or "all".' }),
  retry: retry.optional(),
  crash: z
    .strictObject({ deliveries: wholeNumber.min(1).max(limits.attempts) })
    .optional()
    .meta({ description: "How many deliveries may end in a crash before the message is dead." }),
  handlerTimeout: duration.optional(),
  errors: z.strictObject({ permanent: z.array(name).max(limits.permanentErrors) }).optional(),
  deadLetter: z.strictObject({ retain: duration.optional(), alarmAbove: wholeNumber.min(0).optional() }).optional(),
  delivery: z.enum(["work-queue", "every-instance"]).default("work-queue"),
  order: z.enum(["none", "per-key"]).default("none"),
  protocol: z.enum(["amqp-0-9-1", "amqp-1.0"]).default("amqp-0-9-1"),
});

/** A consumer of which some fields may have been taken out because they are wrong. */
export const soundConsumerSchema = consumer.partial();

/** The schema of a system, as it is written in JSON or YAML. Rules across fields are in `check.ts`. */
export const systemSchema: z.ZodType<SystemOutput> = z.strictObject({
  name,
  sources: z.record(name, z.strictObject({ kind: z.enum(["topic", "direct", "fanout"]) })),
  consumers: z.record(name, consumer),
});

/** A consumer as the schema returns it, defaults filled in. */
export type ConsumerOutput = z.output<typeof consumer>;
/** A source as the schema returns it. */
export interface SourceOutput {
  kind: "topic" | "direct" | "fanout";
}
/** A system as the schema returns it, defaults filled in. */
export interface SystemOutput {
  name: string;
  sources: Record<string, SourceOutput>;
  consumers: Record<string, ConsumerOutput>;
}

/** The JSON Schema of a declaration, for editors and for teams that do not write TypeScript. */
export function declarationJsonSchema(): Record<string, unknown> {
  return {
    ...(z.toJSONSchema(systemSchema, { io: "input", target: "draft-2020-12" }) as Record<string, unknown>),
    title: "Redeliver system",
    description: "How each consumer of a system retries.",
  };
}
