import { z } from "zod";

import { durationPattern } from "./duration.ts";

/** The bounds on a declaration for every broker. */
export const limits = {
  /** More attempts are a schedule, not a retry, and the size of every strategy grows with them. */
  attempts: 1_000,
  /** Ten years, the longest time to live of RabbitMQ (`rabbit_misc:check_expiry/1`). */
  delayMs: 315_360_000_000,
  nameLength: 255,
  permanentErrors: 1_000,
} as const;

/** The form of a jitter: a whole percentage from 1 to 100. */
export const jitterPattern: RegExp = /^([1-9][0-9]?|100)%$/;

/** Ends the description of each duration and jitter in the JSON Schema. In TypeScript their types say it. */
export const formTexts: Readonly<Record<string, string>> = {
  [durationPattern.source]: 'A whole number and a unit: "250ms", "30s", "5m", "2h", "14d".',
  [jitterPattern.source]: "A whole percentage from 1% to 100%.",
};

/** A property with its text and its examples. Editors propose the examples. */
export function about<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  ...examples: readonly unknown[]
): Schema {
  return schema.meta(examples.length === 0 ? { description } : { description, examples: [...examples] });
}

export const duration = z.string().regex(durationPattern);
export const wholeNumber = z.number().int();
export const name = z.string().min(1).max(limits.nameLength);

/** The ways to compare the headers of a message. */
export const headersMatches = ["all", "any", "all-with-x", "any-with-x"] as const;
