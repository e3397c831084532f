import { z } from "zod";

/** A value that Pulumi reads as text. */
export const text = z.string().min(1, { abort: true });
/** The broker judges an option itself, because its words are better than a schema's. */
export const option = z.unknown().optional();

/** The configuration of a Pulumi stack that deploys to a broker. */
export interface StackKeys {
  /** The component for the broker, for an error that names it. */
  readonly component: string;
  /** True if there is a secret password. It has no schema, because no message of zod may ever show it. */
  readonly hasPassword: boolean;
  /** The keys of the target beside `broker`. */
  readonly target: z.ZodRawShape;
  /** The other keys of the stack. */
  readonly others: z.ZodRawShape;
  /** The way to set each value, by its path. */
  readonly howTo: Readonly<Record<string, string>>;
  /** Describes the problem of a value without the value, which may be a secret. Null for the general sentence. */
  readonly problemOf: (path: string, value: unknown) => string | null;
}
