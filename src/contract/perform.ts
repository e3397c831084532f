/**
 * The effect of an operation on the message in hand: it goes on as `original`, beside new copies. `refused`: the broker
 * did not accept it.
 */
export type Effect<State, Copy> = { readonly copies: readonly Copy[]; readonly original: State } | "refused";

/** The copies that an outcome made, and the message itself. */
export interface Performed<State, Copy> {
  readonly copies: readonly Copy[];
  readonly original: State;
}

/**
 * Does an outcome's operations one after the other, in every way that each can go. An operation that the broker refuses
 * ends the outcome, because the consumer does not go on.
 */
export function performInOrder<State, Copy, Operation>(
  message: State,
  operations: readonly Operation[],
  effectsOf: (original: State, operation: Operation) => readonly Effect<State, Copy>[],
): readonly Performed<State, Copy>[] {
  let ways: readonly (Performed<State, Copy> & { readonly isOver: boolean })[] = [
    { copies: [], original: message, isOver: false },
  ];
  for (const operation of operations) {
    ways = ways.flatMap((way) =>
      way.isOver
        ? [way]
        : effectsOf(way.original, operation).map((effect) =>
            effect === "refused"
              ? { ...way, isOver: true }
              : { copies: [...way.copies, ...effect.copies], original: effect.original, isOver: false },
          ),
    );
  }
  return ways;
}
