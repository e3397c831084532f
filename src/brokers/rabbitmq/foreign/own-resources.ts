import type { RabbitmqCompiled } from "../compile/compile.ts";
import { deadExchange, failedExchange, parkedQueue, prefixOf, schedulePrefix } from "../compile/names.ts";
import { deployedPartsOf } from "../compile/parts.ts";
import { deadLetteringOf } from "../compile/topology.ts";
import type { BrokerQueue, BrokerTopology } from "../prove/semantics.ts";

/** Tells the resources of a system from those of others, by their names. */
export type OwnResources = ReturnType<typeof ownResources>;

/**
 * Finds the resources of a system on a broker. A declaration may give a queue any name, and two systems may have names
 * that begin alike. So the place that a queue dead-letters to decides, or the place that its messages come from. Only
 * if they tell nothing the system's prefix decides, and the names in earlier declarations.
 */
export function ownResources(
  found: BrokerTopology,
  compiled: RabbitmqCompiled,
  earlier: readonly RabbitmqCompiled[],
  others: readonly RabbitmqCompiled[] = [],
) {
  const prefixes = [compiled, ...earlier].map(({ topology }) => prefixOf(topology));
  const keysOf = (systems: readonly RabbitmqCompiled[]): ReadonlySet<string> =>
    new Set(systems.flatMap(deployedPartsOf).map(({ kind, name }) => `${kind} ${name}`));
  const [declared, theirs] = [keysOf(earlier), keysOf(others)];
  const mayBeOwn = (kind: string, name: string): boolean =>
    [compiled.topology.system, prefixOf(compiled.topology)].some((each) => name.startsWith(`${each}.`)) ||
    declared.has(`${kind} ${name}`);
  const exchange = (name: string): boolean =>
    !theirs.has(`exchange ${name}`) && (isOwnFailed(found, name, prefixes) ?? mayBeOwn("exchange", name));
  const queues = found.queues
    .filter(({ name }) => !theirs.has(`queue ${name}`))
    .filter((each) => isOwnQueue(found, each, prefixes) ?? mayBeOwn("queue", each.name));
  const names = new Set(queues.map(({ name }) => name));
  return { queue: (name: string) => names.has(name), exchange };
}

/** Null if the queue does not look like one of Redeliver's. */
function isOwnQueue(found: BrokerTopology, queue: BrokerQueue, prefixes: readonly string[]): boolean | null {
  const { name, arguments: given } = queue;
  const policy = found.policies.find((each) => each.kind === "user" && each.name === name)?.definition;
  const { exchange, key } = deadLetteringOf(given, policy);
  const isDead = (each: string): boolean => prefixes.some((prefix) => deadExchange(prefix) === each);
  if (exchange !== null) {
    // Only a work queue dead-letters with its own name as the key.
    if (key !== name) return null;
    if (exchange === failedExchange(name)) return isOwnFailed(found, exchange, prefixes);
    return isDead(exchange) ? true : exchange.endsWith(deadExchange("")) ? false : null;
  }
  const parking = found.queues.find((each) => parkedQueue(each.name) === name);
  if (parking !== undefined) return isOwnQueue(found, parking, prefixes);
  // Another team may copy dead letters into a queue of its own. That has no policy of its own name.
  if (policy?.["overflow"] !== "reject-publish") return null;
  const from = found.bindings
    .filter(({ destination, destinationKind }) => destinationKind === "queue" && destination === name)
    .map(({ source }) => source)
    .filter((source) => source.endsWith(deadExchange("")));
  if (from.length === 0) return null;
  return from.every(isDead) ? true : from.some(isDead) ? null : false;
}

/** Null if nothing leads from the exchange into the retries of a system. */
function isOwnFailed({ policies }: BrokerTopology, exchange: string, prefixes: readonly string[]): boolean | null {
  const next = policies.find(({ kind, name }) => kind === "user" && name === exchange)?.definition[
    "alternate-exchange"
  ];
  if (exchange !== failedExchange(exchange.slice(0, -failedExchange("").length)) || typeof next !== "string")
    return null;
  return prefixes.some((prefix) => next === deadExchange(prefix) || next.startsWith(schedulePrefix(prefix)));
}
