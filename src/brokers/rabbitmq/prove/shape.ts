import { ownerShape } from "../../../contract/shape.ts";
import type { Closure } from "./closure.ts";
import type { Contract } from "../compile/contract.ts";
import { examplesOf } from "../compile/names.ts";
import type { SemanticsVersion } from "./semantics.ts";

/** Stand for the names of a consumer's two queues. They are private-use characters, so that no name has them. */
const placeholders = { work: "\uE000", dead: "\uE001" } as const;

/**
 * A text that two consumers share only if their messages go through the same states, apart from names. A proof for one
 * consumer then holds for the other.
 *
 * The text has everything that the proof looks at: the closure and the contract, with the names of the
 * consumer's own queues replaced. A template may give the dead queue a name without that of the work queue. This is
 * sound because the semantics only compares names and keys for equality and order.
 * - Replacing is one to one, since the placeholders occur nowhere before. So parts that are equal in one topology are
 *   equal in the other.
 * - The order of the queues' names is part of the text, because the cycle rule of 3.13.0 sorts by it.
 * - Topic patterns are the exception, because they compare parts of a key. The text leaves them out only under two
 *   conditions: only the source compares a publisher's key, and each declared pattern is bound there as it stands.
 *   Otherwise the text has them unreplaced. The pattern of all attempt keys leaves out the last word, which ends in the
 *   consumer's name. So equal texts have equal patterns.
 *
 * @param publishes false if messages come in by another contract or in another phase of a change
 */
export function shapeOf(
  closure: Closure,
  contract: Contract,
  version: SemanticsVersion,
  publishes: boolean = true,
): string {
  const { workQueue } = contract;
  const sources = new Set(contract.sources.map(({ exchange }) => exchange));
  const isInitial = (binding: Closure["bindings"][number]): boolean =>
    binding.destination === workQueue && sources.has(binding.source);
  const names = closure.queues.map(({ name }) => name);
  const leads = publishes ? null : ledTo(closure, contract);
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
    contract.refusesWhenFull,
    closure.exchanges
      .filter(({ name }) => !sources.has(name))
      .map((each) => [each.name, each.kind, each.arguments, policiesOf(closure, each.name)]),
    closure.queues.map(({ name, consumer, arguments: given }) => [
      name,
      ownerShape(consumer, contract.consumer),
      given,
      policiesOf(closure, name),
    ]),
    closure.bindings
      .filter((each) => !isInitial(each))
      .map((each) => {
        const key = leads?.includes(JSON.stringify(each.source)) === false ? null : each.routingKey;
        return [each.source, each.destination, each.destinationKind, key, each.arguments];
      }),
    names.toSorted().map((name) => names.indexOf(name)),
    // Keys that nothing looks at are all alike.
    publishes || !closure.ignoresKeysOf(contract) ? entranceOf(closure, contract) : null,
  ]);
  // A text that already has a placeholder stays as it is. The consumer is then proved by itself.
  if (workQueue === null || Object.values(placeholders).some((each) => text.includes(each))) return text;
  const own = [
    { name: workQueue, placeholder: placeholders.work },
    ...(contract.deadQueue === null ? [] : [{ name: contract.deadQueue, placeholder: placeholders.dead }]),
  ];
  // One name may be a part of the other, and the longer one must not be cut.
  return own
    .toSorted((a, b) => b.name.length - a.name.length)
    .reduce((shape, { name, placeholder }) => shape.replaceAll(JSON.stringify(name).slice(1, -1), placeholder), text);
}

/** Everything that names the next exchange of a message. No message comes to another one unless somebody publishes it. */
function ledTo(closure: Closure, { outcomes, retryAfter }: Contract): string {
  return JSON.stringify([
    outcomes,
    retryAfter,
    [...closure.queues, ...closure.exchanges].map((each) => [each.arguments, policiesOf(closure, each.name)]),
    closure.bindings.map(({ destination }) => destination),
  ]);
}

function policiesOf(closure: Closure, name: string): unknown {
  return closure.policiesOf(name).map(({ applyTo, priority, definition }) => [applyTo, priority, definition]);
}

/**
 * Describes how a message comes in. If no later step looks at the keys, only the kinds of the sources and the equality
 * of keys count.
 */
function entranceOf(closure: Closure, contract: Contract): unknown {
  const sources = contract.sources.map(({ exchange, routingKeys }) => ({
    routingKeys,
    examples: examplesOf({ exchange, routingKeys }),
    resource: closure.exchanges.find(({ name }) => name === exchange),
    bindings: closure.bindings.filter(({ source }) => source === exchange),
  }));
  const isPlain = sources.every(
    ({ routingKeys, resource, bindings }) =>
      resource !== undefined &&
      resource.kind !== "headers" &&
      // Each declared pattern is bound to the work queue as it stands, and the source leads to no other queue.
      bindings.length === routingKeys.length &&
      bindings.every(({ destination }) => destination === contract.workQueue) &&
      routingKeys.every((key) => bindings.some(({ routingKey }) => routingKey === key)) &&
      // A direct exchange compares with a pattern as if it were a key.
      (resource.kind !== "direct" || routingKeys.every((key) => !/[*#]/.test(key))),
  );
  if (isPlain && closure.ignoresKeysOf(contract)) {
    // Only the equality of keys counts here. Two patterns may have the same example, and then they give one message.
    const keys = sources.flatMap(({ examples }) => examples);
    return sources.map(({ examples, resource }) => {
      const equal = examples.map((key) => keys.indexOf(key));
      return [equal, resource?.kind, resource?.arguments];
    });
  }
  return [contract.sources, sources, closure.bindings];
}
