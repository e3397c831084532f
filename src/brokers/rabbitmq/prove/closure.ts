import { publicationsOf } from "../compile/publications.ts";
import type { Contract } from "../compile/contract.ts";
import { defaultExchange, examplesOf } from "../compile/names.ts";
import { indexPolicies, policiesNaming } from "./semantics.ts";
import { remembered } from "./remembered.ts";
import { topicIndex } from "./topic-index.ts";
import type { BindingResource, Topology } from "../compile/topology.ts";

/** The part of a topology that messages of one consumer can reach, in the order of discovery. */
export type Closure = ReturnType<typeof closureOf>;

type Resources = Pick<Topology, "exchanges" | "queues" | "bindings" | "policies">;

/** Lookup tables of one topology, built once for the closures of all its consumers. */
export type TopologyIndex = ReturnType<typeof indexTopology>;

export function indexTopology({ exchanges, queues, bindings, policies }: Resources) {
  const bySource = Map.groupBy(bindings, ({ source }) => source);
  const policyIndex = indexPolicies(policies);
  const workQueues = new Set(queues.filter(({ role }) => role === "work").map(({ name }) => name));
  const byKey = remembered((exchange: string) =>
    Map.groupBy(bySource.get(exchange) ?? [], ({ routingKey }) => routingKey),
  );
  return {
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    exchanges: new Map(exchanges.map((exchange) => [exchange.name, exchange])),
    bySource,
    byDestination: Map.groupBy(bindings, ({ destination }) => destination),
    keyed: (exchange: string, key: string): readonly BindingResource[] => {
      const all = bySource.get(exchange) ?? [];
      // Most exchanges belong to one consumer and have few bindings. An index pays only for shared exchanges.
      return all.length < 20 ? all.filter(({ routingKey }) => routingKey === key) : (byKey(exchange).get(key) ?? []);
    },
    /** The bindings of an exchange that do not lead to a consumer's work queue. */
    besideWork: remembered((exchange: string): readonly BindingResource[] =>
      (bySource.get(exchange) ?? []).filter(
        ({ destination, destinationKind }) => destinationKind === "exchange" || !workQueues.has(destination),
      ),
    ),
    policiesOf: (name: string) => policiesNaming(policyIndex, name),
  };
}

/**
 * Finds everything that a message of one consumer can reach. It follows dead-letter exchanges, alternate exchanges,
 * bindings and the publications of the contract. Queues of other consumers are listed if a message can reach them, but
 * not followed. A message that gets there is a violation already.
 *
 * Of a source, only the bindings for this consumer count, because its other copies belong to other consumers. If a
 * message can come back into a source, all its bindings count.
 *
 * @param places queues where messages of the consumer may be, besides those that its sources lead to
 */
export function closureOf(index: TopologyIndex, contract: Contract, places: readonly string[] = []) {
  const found: Found = { exchanges: new Set(), queues: new Set(places), bindings: new Set(), keys: new Set() };
  const sources = contract.sources.map(({ exchange }) => exchange);
  const initial = sources.flatMap((exchange) => [
    ...(index.byDestination.get(contract.workQueue ?? "") ?? []).filter(({ source }) => source === exchange),
    ...index.besideWork(exchange),
  ]);
  const published = contract.sources.flatMap(examplesOf);
  for (const key of published) found.keys.add(key);
  // A queue that the default exchange leads to is an entrance, although no binding shows it.
  for (const { exchange, routingKeys } of contract.sources) {
    if (exchange === defaultExchange) for (const key of routingKeys) if (index.queues.has(key)) found.queues.add(key);
  }
  for (const { exchange, routingKey } of publicationsOf(contract)) {
    found.keys.add(routingKey);
    found.exchanges.add(exchange);
  }
  for (const binding of initial) followBinding(found, binding);
  // Each exchange is followed once. One that compares keys is followed again when more keys are known, because they may
  // open further routes.
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
  // Bindings from every source count, so that the proof overlooks no undeclared one.
  for (const name of found.queues) {
    for (const binding of index.byDestination.get(name) ?? []) {
      if (index.exchanges.get(binding.source)?.role === "source") found.bindings.add(binding);
    }
  }
  return {
    exchanges: [...new Set([...sources, ...found.exchanges])].flatMap((name) => index.exchanges.get(name) ?? []),
    queues: [...found.queues].flatMap((name) => index.queues.get(name) ?? []),
    bindings: [...found.bindings],
    policies: [...new Set([...found.queues, ...found.exchanges].flatMap((name) => index.policiesOf(name)))],
    policiesOf: index.policiesOf,
    /**
     * The names of queues and exchanges that were looked up behind the sources. A key is the name of a queue for the
     * default exchange.
     */
    asked: new Set(
      [found.exchanges, found.queues, found.keys, [contract.workQueue, contract.deadQueue]].flatMap((names) =>
        [...names].filter((name) => name !== null),
      ),
    ),
    /**
     * True if no exchange behind the sources compares the keys of messages that are published by a contract, and none
     * of these keys looks like an attempt's key.
     */
    ignoresKeysOf: (publisher: Contract): boolean =>
      !publisher.sources
        .flatMap(examplesOf)
        .some((key) => [contract, publisher].some((each) => isLookedAt(index, each, found, key))),
  };
}

/** Tells if anything behind the source can depend on a publisher's key. */
function isLookedAt(index: TopologyIndex, contract: Contract, found: Found, key: string): boolean {
  if (contract.attemptNumber?.from === "routing-key" && key.startsWith(contract.attemptNumber.prefix)) return true;
  if (contract.sources.some(({ exchange }) => found.exchanges.has(exchange))) return true;
  return [...found.exchanges].some((name) => {
    if (name === "") return index.queues.has(key);
    const kind = index.exchanges.get(name)?.kind;
    if (kind === "direct") return index.keyed(name, key).length > 0;
    if (kind !== "topic") return false;
    const patterns = (index.bySource.get(name) ?? []).map((item) => ({ pattern: item.routingKey, item }));
    return topicIndex(patterns).match(key).length > 0;
  });
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
  const follow = (exchange: unknown, key: unknown): void => {
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
  for (const { definition } of index.policiesOf(name)) {
    const wayOn = definition["alternate-exchange"];
    if (typeof wayOn === "string") found.exchanges.add(wayOn);
  }
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
