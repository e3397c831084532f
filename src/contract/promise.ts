/** The keeper of a promise. */
export type Keeper = "broker" | "consumer" | "nobody";

/** The promises of a consumer, in the order of settings and pages. */
export const promiseNames = [
  "no-loss",
  "no-loop",
  "attempts",
  "crash",
  "timing",
  "isolation",
  "permanent",
  "return",
  /** Every attempt is a run of the handler. */
  "exact-attempts",
  "order",
  "handler-timeout",
  "retention",
  "alarm",
] as const;
export type PromiseName = (typeof promiseNames)[number];

/** One thing that the declaration asks for, and its keeper. */
export interface KeptPromise {
  readonly consumer: string;
  readonly promise: PromiseName;
  readonly keeper: Keeper;
  /** The promise as a statement, with its numbers. */
  readonly statement: string;
}

export function promise(
  { plan }: { readonly plan: { readonly consumer: string } },
  name: PromiseName,
  keeper: Keeper,
  statement: string,
): KeptPromise {
  return Object.freeze({ consumer: plan.consumer, promise: name, keeper, statement });
}
