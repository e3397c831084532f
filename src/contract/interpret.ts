import type { Cause } from "../explore/model.ts";
import type { AnyContract, AnyOperation, BrokerContract, Outcome } from "./contract.ts";

/** The operations of an outcome by the attempt, or those of all attempts as the only entry. */
export function operationsByAttempt<Operation>(outcome: Outcome<Operation>): readonly (readonly Operation[])[] {
  return "byAttempt" in outcome ? outcome.byAttempt : [outcome];
}

/**
 * The operations of an outcome after a given attempt. A number beyond the last attempt counts as the last: a new
 * declaration may have fewer attempts while the message waited. An invalid attempt number has no operations.
 */
export function operationsAfter<Operation>(outcome: Outcome<Operation>, attempt: number): readonly Operation[] {
  if (!("byAttempt" in outcome)) return outcome;
  return outcome.byAttempt[Math.min(attempt, outcome.byAttempt.length) - 1] ?? [];
}

/** Every operation of a contract, for any outcome and attempt. */
export function operationsIn<Operation>({
  outcomes,
  retryAfter = [],
}: Pick<BrokerContract<Operation>, "outcomes" | "retryAfter">): readonly Operation[] {
  return [...Object.values(outcomes), ...retryAfter].flatMap((outcome) => operationsByAttempt(outcome).flat());
}

/** An operation with several variants for jitter, and their differences. */
interface Spread<Operation> {
  readonly spread?: readonly Partial<Operation>[];
}

/**
 * The variants of an operation. The consumer takes one at random, each with the same chance. First come those of its
 * `spread`, shortest wait first, and then the operation itself, the longest.
 */
export function waysOf<Operation extends object>(operation: Operation & Spread<Operation>): readonly Operation[] {
  const { spread = [], ...own } = operation;
  return [...spread.map((each) => ({ ...own, ...each }) as Operation), own as Operation];
}

/** @param random from 0 up to 1, as Math.random() returns it */
export function drawnWay<Operation extends object>(
  operation: Operation & Spread<Operation>,
  random: number,
): Operation {
  const ways = waysOf(operation);
  return ways[Math.floor(random * ways.length)] as Operation;
}

/**
 * A delay that a contract names: a whole number from a range, or the delay that the handler asked for, in the same
 * unit.
 *
 * @param random from 0 up to 1, as Math.random() returns it
 */
export function drawnDelay(
  range: { readonly from: number; readonly to: number } | "asked",
  asked: number | null,
  random: number,
): number {
  if (range !== "asked") return range.from + Math.floor(random * (range.to - range.from + 1));
  if (asked === null) throw new Error("the contract wants a delay that no handler asked for");
  return asked;
}

export type AskedDelay = NonNullable<ReturnType<typeof askedDelay>>;

/** The first step that is long enough, or else the longest. Null if handlers may not ask. */
export function askedDelay({ retryAfter = [] }: AnyContract, attempt: number, delayMs: number) {
  const step = retryAfter.find((each) => each.upToMs >= delayMs) ?? retryAfter.at(-1);
  if (step === undefined) return null;
  return { operations: operationsAfter(step, attempt), delayMs: Math.min(delayMs, step.upToMs) };
}

/** The outcomes other than success, in the order in which a model plays them. */
export const failureNames = ["transient", "permanent", "return"] as const;

/** One way in which an attempt ends, with the contract's operations for it. */
export interface Ending<Operation> {
  readonly cause: Extract<Cause, "success" | "transient" | "permanent" | "return" | "retry-after">;
  readonly label: string;
  readonly operations: readonly Operation[];
  /** The longest delay that a handler asks for. Null if it asks for none. */
  readonly upToMs: number | null;
}

/** All ways in which an attempt can end under its contract. */
export function endingsOf<Operation>(
  { outcomes, retryAfter = [] }: Pick<BrokerContract<Operation>, "outcomes" | "retryAfter">,
  attempt: number,
): readonly Ending<Operation>[] {
  const labels = {
    success: `success on attempt ${attempt}`,
    transient: `transient failure of attempt ${attempt}`,
    permanent: `permanent failure of attempt ${attempt}`,
    return: "returned",
  };
  return [
    ...(["success", ...failureNames] as const).map((cause) => ({
      cause,
      label: labels[cause],
      operations: operationsAfter(outcomes[cause], attempt),
      upToMs: null,
    })),
    ...retryAfter.map((step) => ({
      cause: "retry-after" as const,
      label: `attempt ${attempt} asks for ${step.upToMs} ms at most`,
      operations: operationsAfter(step, attempt),
      upToMs: step.upToMs,
    })),
  ];
}

/**
 * The crashes between two operations of an outcome: their order may not lose a message. A model plays them as breaches
 * of the contract, so that a simulated crash is not one of them.
 */
export function crashesBetween<Operation extends AnyOperation>(
  { outcomes }: Pick<BrokerContract<Operation>, "outcomes">,
  attempt: number,
): readonly Pick<Ending<Operation>, "label" | "operations">[] {
  return failureNames.flatMap((name) => {
    const operations = operationsAfter(outcomes[name], attempt);
    return operations.slice(1).map((next, index) => ({
      label: `crash on attempt ${attempt} before ${next.operation}`,
      operations: operations.slice(0, index + 1),
    }));
  });
}
