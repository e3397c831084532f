import type { BrokerContract } from "./contract.ts";
import { operationsByAttempt } from "./interpret.ts";

/** The place of a name in the part of a topology that a consumer's messages can reach. */
export type PlaceOf = (name: string) => number | "missing";

export function placesOf(names: readonly string[]): PlaceOf {
  const places = new Map(names.map((name, index) => [name, index]));
  return (name) => places.get(name) ?? "missing";
}

/** The operations of a contract. `shape` replaces the names in one of them. */
export function operationsShape<Operation>(
  { outcomes, retryAfter = [] }: Pick<BrokerContract<Operation>, "outcomes" | "retryAfter">,
  shape: (operation: Operation) => unknown,
): unknown {
  const { success, transient, permanent, return: returned } = outcomes;
  return [success, transient, permanent, returned, ...retryAfter].map((outcome) => [
    "upToMs" in outcome ? outcome.upToMs : null,
    operationsByAttempt(outcome).map((each) => each.map(shape)),
  ]);
}

/** The owner of a queue, as one consumer sees it. */
export function ownerShape(owner: string | null, consumer: string): "shared" | "own" | "other" {
  return owner === null ? "shared" : owner === consumer ? "own" : "other";
}

/** Different shapes in an order that does not depend on names. */
export function distinctShapes(shapes: readonly unknown[]): readonly string[] {
  return [...new Set(shapes.map((each) => JSON.stringify(each)))].toSorted();
}
