import { z } from "zod";

import { parseTarget } from "../brokers/index.ts";
import { durationPattern, parseDurationMs } from "../declare/duration.ts";

/** Marks an issue as one about a budget that nobody could keep. */
export const impossible = "impossible";

/** A duration as an organisation's budget; none that is zero, which nobody could keep. */
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
  reason: z.string().trim().min(1).meta({ description: "Why the rule does not hold there." }),
  expires: z.iso.date().meta({ description: "The last day on which the waiver holds, such as 2027-01-31." }),
});

/** An exception that somebody answers for, until a day. */
export type Waiver = z.output<typeof waiver>;

/** Which resources a rule judges. `shop.billing` is the consumer billing of the component shop; a `*` stands for anything. */
const names = {
  include: z
    .array(namePattern)
    .default(["*"])
    .meta({ description: "The names of what is judged; * stands for anything." }),
  exclude: z.array(namePattern).default([]).meta({ description: "The names of what is not judged." }),
};

/** What every rule can be told, whatever else it has. */
export const selectionSettings = {
  ...names,
  waivers: z
    .array(waiver)
    .default([])
    .meta({ description: "Exceptions with a reason and a last day; after it the violation is back." }),
};

/** What the rules on topologies can be told besides. */
export const topologySettings = {
  targets: z
    .array(z.string().refine((text) => parseTarget(text).ok, "a target such as rabbitmq@4.0"))
    .default([])
    .meta({ description: "What the brokers of the stack are, such as rabbitmq@4.0." }),
};

export interface Selection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly waivers: readonly Waiver[];
}

export interface TopologySelection extends Selection {
  readonly targets: readonly string[];
}
