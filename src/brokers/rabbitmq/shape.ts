import type { Closure } from "./closure.ts";
import type { Contract } from "./contract.ts";
import { examplesOf } from "./names.ts";
import type { SemanticsVersion } from "./semantics.ts";

/** Stands for the consumer's name; a character for private use, so that no name has it. */
const placeholder = "\uE000";

/**
 * A text that two consumers share only if a message of the one goes through the same states as a message of the other, but for
 * names: what is proved of the one is proved of the other.
 *
 * It is everything that the proof looks at, the closure and the contract, with the consumer's own name replaced. Why that is sound:
 * the semantics compares names and keys with each other for equality, and for order, and looks at nothing else in them.
 * - Replacing is one to one, since the placeholder occurs nowhere before. So what is equal in one of the topologies is equal in
 *   the other.
 * - The order of the queues' names (the cycle rule of 3.13.0 sorts by it) is part of the text.
 * - Topic patterns are the exception, where parts of a key are compared. They are left out of the text only where a publisher's key
 *   is compared by its source alone, and each declared pattern is bound there as it stands; else they are in it, unreplaced. The pattern
 *   of all attempt keys leaves out the last word, in which the consumer's name ends, so it is the same wherever the text is the same.
 */
export function shapeOf(closure: Closure, contract: Contract, version: SemanticsVersion): string {
  const { workQueue } = contract;
  const ownerOf = (consumer: string | null): string =>
    consumer === null ? "shared" : consumer === contract.consumer ? "own" : "other";
  const sources = new Set(contract.sources.map(({ exchange }) => exchange));
  const isInitial = (binding: Closure["bindings"][number]): boolean =>
    binding.destination === workQueue && sources.has(binding.source);
  const names = closure.queues.map(({ name }) => name);
  const text = JSON.stringify([
    version,
    workQueue,
    contract.deadQueue,
    contract.attempts,
    contract.crashDeliveries,
    contract.maxDeliveries,
    contract.attemptNumber,
    contract.outcomes,
    contract.retryAfter,
    closure.exchanges.filter(({ name }) => !sources.has(name)).map((each) => [each.name, each.kind, each.arguments]),
    closure.queues.map(({ name, consumer, arguments: given }) => [
      name,
      ownerOf(consumer),
      given,
      closure.policiesOf(name).map(({ applyTo, priority, definition }) => [applyTo, priority, definition]),
    ]),
    closure.bindings
      .filter((each) => !isInitial(each))
      .map((each) => [each.source, each.destination, each.destinationKind, each.routingKey, each.arguments]),
    names.toSorted().map((name) => names.indexOf(name)),
    entranceOf(closure, contract),
  ]);
  // A name that has it all the same is left as it is: then the consumer is proved by itself.
  if (workQueue === null || text.includes(placeholder)) return text;
  return text.replaceAll(JSON.stringify(workQueue).slice(1, -1), placeholder);
}

/** How a message comes in: the kinds of the sources and which of the keys are equal, where that is all that matters. */
function entranceOf(closure: Closure, contract: Contract): unknown {
  const sources = contract.sources.map(({ exchange, routingKeys }) => ({
    routingKeys,
    resource: closure.exchanges.find(({ name }) => name === exchange),
    bindings: closure.bindings.filter(({ source }) => source === exchange),
  }));
  const isPlain = sources.every(
    ({ routingKeys, resource, bindings }) =>
      resource !== undefined &&
      resource.kind !== "headers" &&
      // Each declared pattern is bound to the work queue as it stands, and the source leads nowhere else.
      bindings.length === routingKeys.length &&
      bindings.every(({ destination }) => destination === contract.workQueue) &&
      routingKeys.every((key) => bindings.some(({ routingKey }) => routingKey === key)) &&
      // A direct exchange compares with a pattern as if it were a key.
      (resource.kind !== "direct" || routingKeys.every((key) => !/[*#]/.test(key))),
  );
  if (isPlain && closure.ignoresPublishedKeys) {
    // Of which key each is a message is not looked at, but two of one key are one message: patterns may have the same example.
    const keys = sources.flatMap(({ routingKeys }) => examplesOf(routingKeys));
    return sources.map(({ routingKeys, resource }) => {
      const equal = examplesOf(routingKeys).map((key) => keys.indexOf(key));
      return [equal, resource?.kind, resource?.arguments];
    });
  }
  return [contract.sources, sources, closure.bindings];
}
