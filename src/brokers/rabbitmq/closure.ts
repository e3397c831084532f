import { waysOf } from "../contract.ts";
import type { Contract, PublishOperation } from "./contract.ts";
import { examplesOf } from "./names.ts";
import { indexPolicies, policiesNaming } from "./semantics.ts";
import { topicIndex } from "./topic-index.ts";
import type { BindingResource, ExchangeResource, PolicyResource, QueueResource, Topology } from "./topology.ts";

/** The part of a topology that messages of one consumer can get to, in the order in which it was found. */
export interface Closure {
  readonly exchanges: readonly ExchangeResource[];
  readonly queues: readonly QueueResource[];
  readonly bindings: readonly BindingResource[];
  readonly policies: readonly PolicyResource[];
  /** For each of the queues the policies that name it. */
  readonly policiesOf: (queue: string) => readonly PolicyResource[];
  /**
   * Whether the broker never looks at the publisher's routing key again once the source has routed it: no exchange that the
   * message can come to later compares it with anything, and it does not look like an attempt's key.
   */
  readonly ignoresPublishedKeys: boolean;
}

type Resources = Pick<Topology, "exchanges" | "queues" | "bindings" | "policies">;

/** A topology, looked up once for the closures of all its consumers. */
export interface TopologyIndex {
  readonly queues: ReadonlyMap<string, QueueResource>;
  readonly exchanges: ReadonlyMap<string, ExchangeResource>;
  readonly bySource: ReadonlyMap<string, readonly BindingResource[]>;
  readonly byDestination: ReadonlyMap<string, readonly BindingResource[]>;
  /** Bindings of an exchange that do not lead to a consumer's work queue. */
  readonly besideWork: (exchange: string) => readonly BindingResource[];
  /** Bindings of one exchange by their keys, made when they are first asked for. */
  readonly keyed: (exchange: string, key: string) => readonly BindingResource[];
  /** The policies that can apply to a queue. */
  readonly policiesOf: (queue: string) => readonly PolicyResource[];
}

export function indexTopology({ exchanges, queues, bindings, policies }: Resources): TopologyIndex {
  const bySource = Map.groupBy(bindings, ({ source }) => source);
  const policyIndex = indexPolicies(policies);
  const workQueues = new Set(queues.filter(({ role }) => role === "work").map(({ name }) => name));
  const besideWork = new Map<string, readonly BindingResource[]>();
  const byKey = new Map<string, ReadonlyMap<string, readonly BindingResource[]>>();
  return {
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    exchanges: new Map(exchanges.map((exchange) => [exchange.name, exchange])),
    bySource,
    byDestination: Map.groupBy(bindings, ({ destination }) => destination),
    keyed: (exchange, key) => {
      const all = bySource.get(exchange) ?? [];
      // Most exchanges belong to one consumer and have a few bindings; an index is for those that all share.
      if (all.length < 20) return all.filter(({ routingKey }) => routingKey === key);
      let keys = byKey.get(exchange);
      if (keys === undefined) {
        keys = Map.groupBy(all, ({ routingKey }) => routingKey);
        byKey.set(exchange, keys);
      }
      return keys.get(key) ?? [];
    },
    besideWork: (exchange) => {
      let found = besideWork.get(exchange);
      if (found === undefined) {
        found = (bySource.get(exchange) ?? []).filter(
          ({ destination, destinationKind }) => destinationKind === "exchange" || !workQueues.has(destination),
        );
        besideWork.set(exchange, found);
      }
      return found;
    },
    policiesOf: (queue) => policiesNaming(policyIndex, queue),
  };
}

/**
 * Everything that a message of one consumer can get to: along dead-letter exchanges, alternates and bindings, and through
 * what its contract publishes. Queues of other consumers are in it where they can be reached, but are not followed: that
 * a message gets there is a violation already.
 *
 * Of a source only the bindings for this consumer are in it: what a source does with the copies of others is
 * theirs. Should a message come back into a source, all of its bindings are.
 */
export function closureOf(index: TopologyIndex, contract: Contract): Closure {
  const found: Found = { exchanges: new Set(), queues: new Set(), bindings: new Set(), keys: new Set() };
  const sources = contract.sources.map(({ exchange }) => exchange);
  const initial = sources.flatMap((exchange) => [
    ...(index.byDestination.get(contract.workQueue ?? "") ?? []).filter(({ source }) => source === exchange),
    ...index.besideWork(exchange),
  ]);
  const published = contract.sources.flatMap(({ routingKeys }) => examplesOf(routingKeys));
  for (const key of published) found.keys.add(key);
  for (const { exchange, routingKey } of publicationsOf(contract)) {
    found.keys.add(routingKey);
    found.exchanges.add(exchange);
  }
  for (const binding of initial) followBinding(found, binding);
  // Each is followed once, but an exchange that compares keys again when there are more of them: they may open other ways through it.
  const followed = { queues: new Set<string>(), exchanges: new Set<string>() };
  let keys = 0;
  for (let size = -1; size !== sizeOf(found);) {
    size = sizeOf(found);
    const hasMoreKeys = found.keys.size > keys;
    keys = found.keys.size;
    for (const name of found.queues) {
      if (followed.queues.has(name)) continue;
      followed.queues.add(name);
      followQueue(index, contract.consumer, found, name);
    }
    for (const name of found.exchanges) {
      if (followed.exchanges.has(name) && !(hasMoreKeys && comparesKeys(index, name))) continue;
      followed.exchanges.add(name);
      followExchange(index, found, name);
    }
  }
  // What comes in from any source is part of it, so that nothing that is not declared is overlooked.
  for (const name of found.queues) {
    for (const binding of index.byDestination.get(name) ?? []) {
      if (index.exchanges.get(binding.source)?.role === "source") found.bindings.add(binding);
    }
  }
  return {
    exchanges: [...new Set([...sources, ...found.exchanges])].flatMap((name) => index.exchanges.get(name) ?? []),
    queues: [...found.queues].flatMap((name) => index.queues.get(name) ?? []),
    bindings: [...found.bindings],
    policies: [...new Set([...found.queues].flatMap((name) => index.policiesOf(name)))],
    policiesOf: index.policiesOf,
    ignoresPublishedKeys: !published.some((key) => isLookedAt(index, contract, found, key)),
  };
}

/** Whether anything beyond the source can depend on a publisher's key. */
function isLookedAt(index: TopologyIndex, contract: Contract, found: Found, key: string): boolean {
  if (contract.attemptNumber?.from === "routing-key" && key.startsWith(contract.attemptNumber.prefix)) return true;
  if (contract.sources.some(({ exchange }) => found.exchanges.has(exchange))) return true;
  return [...found.exchanges].some((name) => {
    const kind = name === "" ? "default" : index.exchanges.get(name)?.kind;
    switch (kind) {
      case "default":
        return index.queues.has(key);
      case "direct":
        return index.keyed(name, key).length > 0;
      case "topic":
        return (
          topicIndex((index.bySource.get(name) ?? []).map((item) => ({ pattern: item.routingKey, item }))).match(key)
            .length > 0
        );
      default:
        return false;
    }
  });
}

function publicationsOf({ outcomes, retryAfter = [] }: Contract): PublishOperation[] {
  return [...Object.values(outcomes), ...retryAfter]
    .flatMap((outcome) => ("byAttempt" in outcome ? outcome.byAttempt.flat() : outcome))
    .filter((operation) => operation.operation === "basic.publish")
    .flatMap((operation) => waysOf(operation));
}

interface Found {
  readonly exchanges: Set<string>;
  readonly queues: Set<string>;
  readonly bindings: Set<BindingResource>;
  readonly keys: Set<string>;
}

function comparesKeys(index: TopologyIndex, exchange: string): boolean {
  return exchange === "" || index.exchanges.get(exchange)?.kind === "direct";
}

function sizeOf({ exchanges, queues, bindings, keys }: Found): number {
  return exchanges.size + queues.size + bindings.size + keys.size;
}

function followQueue(index: TopologyIndex, consumer: string, found: Found, name: string): void {
  const queue = index.queues.get(name);
  if (queue === undefined || (queue.consumer !== null && queue.consumer !== consumer)) return;
  const follow = (exchange: string | number | undefined, key: string | number | undefined): void => {
    if (typeof exchange === "string") found.exchanges.add(exchange);
    if (typeof key === "string") found.keys.add(key);
  };
  follow(queue.arguments["x-dead-letter-exchange"], queue.arguments["x-dead-letter-routing-key"]);
  for (const { definition } of index.policiesOf(name)) {
    follow(definition["dead-letter-exchange"], definition["dead-letter-routing-key"]);
  }
}

function followExchange(index: TopologyIndex, found: Found, name: string): void {
  if (name === "") {
    // The default exchange routes by the name of the queue.
    for (const key of found.keys) if (index.queues.has(key)) found.queues.add(key);
    return;
  }
  const exchange = index.exchanges.get(name);
  if (exchange === undefined) return;
  const alternate = exchange.arguments["alternate-exchange"];
  if (alternate !== undefined) found.exchanges.add(alternate);
  const bindings =
    exchange.kind === "direct"
      ? [...found.keys].flatMap((key) => index.keyed(name, key))
      : (index.bySource.get(name) ?? []);
  for (const binding of bindings) followBinding(found, binding);
}

function followBinding(found: Found, binding: BindingResource): void {
  found.bindings.add(binding);
  if (binding.destinationKind === "exchange") found.exchanges.add(binding.destination);
  else found.queues.add(binding.destination);
}
