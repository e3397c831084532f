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
  /** The consumer whose declaration asks for it. */
  readonly consumer: string;
  /** Its name, such as `no-loss`. */
  readonly promise: PromiseName;
  /** `nobody` only for a promise that this version of the broker cannot have. A warning then names the consequence. */
  readonly keeper: Keeper;
  /** The promise as a statement, with its numbers. */
  readonly statement: string;
}

/** The promises of one consumer, in the order in which they are told. */
export type Promises = { readonly [Name in PromiseName]?: Pick<KeptPromise, "keeper" | "statement"> };

const keptBy =
  (keeper: Keeper) =>
  (texts: TemplateStringsArray, ...values: readonly (string | number)[]) => ({
    keeper,
    statement: String.raw({ raw: texts }, ...values),
  });

/** Tags of a statement that name its keeper. */
export const [broker, consumer, nobody] = [keptBy("broker"), keptBy("consumer"), keptBy("nobody")];

export function promisesOf(name: string, promises: Promises): readonly KeptPromise[] {
  return Object.entries(promises).map(([key, { keeper, statement }]) =>
    Object.freeze({ consumer: name, promise: key as PromiseName, keeper, statement }),
  );
}
