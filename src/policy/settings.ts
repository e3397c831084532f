import { z } from "zod";

import { parseTarget } from "../brokers/index.ts";
import { durationPattern, parseDurationMs } from "../declare/duration.ts";

/** Marks an issue about a budget that no declaration can keep. */
export const impossible = "impossible";

/** A duration as an organisation's budget, longer than zero: no declaration can keep a budget of zero. */
export function durationBudget(byDefault: string, description: string): z.ZodDefault<z.ZodString> {
  return z
    .string()
    .regex(durationPattern)
    .refine((text) => !durationPattern.test(text) || parseDurationMs(text) > 0, { params: { kind: impossible } })
    .default(byDefault)
    .meta({ description }) as unknown as z.ZodDefault<z.ZodString>;
}

/** A number of something, at least `min`. */
export function numberBudget(min: number, byDefault: number, description: string): z.ZodDefault<z.ZodNumber> {
  return z.number().int().min(min).default(byDefault).meta({ description });
}

const namePattern = z.string().min(1);

const waiver = z.strictObject({
  resource: namePattern.meta({ description: "The resource, or a part of it: shop, shop.billing, shop.*" }),
  reason: z.string().trim().min(1).meta({ description: "The reason for the exception." }),
  expires: z.iso.date().meta({ description: "The last day on which the waiver holds, such as 2027-01-31." }),
});

/** An exception with a reason, until a day. */
export type Waiver = z.output<typeof waiver>;

/** Chooses resources. `shop.billing` is the consumer billing of the component shop; a `*` stands for anything. */
const names = {
  include: z.array(namePattern).default(["*"]).meta({ description: "The names to judge; * matches anything." }),
  exclude: z.array(namePattern).default([]).meta({ description: "The names to leave out." }),
};

export const selectionSettings = {
  ...names,
  waivers: z
    .array(waiver)
    .default([])
    .meta({ description: "Exceptions with a reason and a last day; after it the violation is back." }),
};

export const topologySettings = {
  targets: z
    .array(z.string().refine((text) => parseTarget(text).ok, "is not a target such as rabbitmq@4.0"))
    .default([])
    .meta({ description: "The brokers of the stack, such as rabbitmq@4.0." }),
};

export interface Selection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly waivers: readonly Waiver[];
}

export interface Settings extends Selection {
  /** For a rule on topologies. */
  readonly targets?: readonly string[];
  /** The rule's own settings. */
  readonly [setting: string]: unknown;
}
