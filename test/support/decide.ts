/** The end of a handler's run. After a crash the message is untouched, and the connection or channel is gone. */
export type Ending = "success" | "transient" | "permanent" | "crash" | "return";

/** The decision of a handler: an ending, a delay of its own, or a crash after some operations of an outcome. */
export type Decision = Ending | { readonly askMs: number } | { readonly crashAfter: number; readonly of: Ending };

type Outcome<Operation> = readonly Operation[] | { readonly byAttempt: readonly (readonly Operation[])[] };

interface Contracted<Operation> {
  readonly outcomes: Readonly<Record<Exclude<Ending, "crash">, Outcome<Operation>>>;
  readonly retryAfter?:
    | readonly { readonly upToMs: number; readonly byAttempt: readonly (readonly Operation[])[] }[]
    | null
    | undefined;
}

/**
 * The operations of a decision. For a requested delay, it takes the first step that is long enough.
 *
 * @param withAsked puts the requested delay into an operation that leaves it open
 */
export function operationsFor<Operation>(
  contract: Contracted<Operation>,
  decision: Decision,
  attempt: number,
  withAsked: (operation: Operation, askMs: number) => Operation,
): readonly Operation[] {
  if (decision === "crash") return [];
  if (typeof decision === "string") return operationsOf(contract.outcomes[decision], attempt);
  if ("crashAfter" in decision)
    return operationsFor(contract, decision.of, attempt, withAsked).slice(0, decision.crashAfter);
  const { askMs } = decision;
  const step = contract.retryAfter?.find((each) => each.upToMs >= askMs);
  if (step === undefined) throw new Error(`the contract has no step for ${askMs} ms`);
  return operationsOf(step, attempt).map((operation) => withAsked(operation, askMs));
}

/** The operations of an outcome after a given attempt. */
export function operationsOf<Operation>(outcome: Outcome<Operation>, attempt: number): readonly Operation[] {
  if (!("byAttempt" in outcome)) return outcome;
  const operations = outcome.byAttempt[attempt - 1];
  if (operations === undefined) throw new Error(`the contract has nothing for attempt ${attempt}`);
  return operations;
}
