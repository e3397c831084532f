import type { BrokerBinding, BrokerTopology, EffectiveSettings, Semantics } from "../semantics.ts";
import { anyKeyLike } from "../unknown-message.ts";

/**
 * What a queue is for, as far as its place in the topology tells.
 *
 * - `wait`: messages expire there into a dead-letter exchange, and only dead letters or those who name it come in.
 * - `dead`: dead letters come in, nothing else does, and it dead-letters nowhere.
 * - `work`: any other queue; somebody consumes it.
 */
export type QueueShape = "work" | "wait" | "dead" | "stream";

/** How a message comes into a queue: the exchange, and its routing key, or a key that stands for a pattern. */
export interface Entry {
  readonly exchange: string;
  readonly routingKey: string;
}

/** What lies around the queues of a virtual host. */
export interface Surroundings {
  readonly shapeOf: (queue: string) => QueueShape;
  /** At least one for each queue. Entries that cannot make a difference are left out. */
  readonly entriesOf: (settings: EffectiveSettings) => readonly Entry[];
  readonly exchanges: ReadonlySet<string>;
}

/** More ways into one queue than this are not looked at one by one; the rest differs from them in its routing key alone. */
const mostEntries = 1_000;

export function surroundingsOf(topology: BrokerTopology, semantics: Semantics): Surroundings {
  const kinds = new Map(topology.exchanges.map(({ name, kind }) => [name, kind]));
  const incoming = Map.groupBy(
    topology.bindings.filter(({ destinationKind }) => destinationKind === "queue"),
    ({ destination }) => destination,
  );
  const settings = topology.queues.flatMap(({ name }) => semantics.settings(name) ?? []);
  const deadLetters = deadLetterExchangesOf(topology, settings, incoming);
  const shapes = new Map(
    settings.map((each) => [each.queue, shapeOf(each, incoming.get(each.queue) ?? [], deadLetters)]),
  );
  return {
    shapeOf: (queue) => shapes.get(queue) ?? "work",
    exchanges: new Set(kinds.keys()),
    entriesOf: ({ queue, deadLetterRoutingKey }) => {
      const bindings = incoming.get(queue) ?? [];
      const published = bindings.filter(({ source }) => !deadLetters.leadingOn.has(source));
      const entries = (published.length > 0 ? published : bindings).slice(0, mostEntries).map((binding): Entry => ({
        exchange: binding.source,
        routingKey: keyThrough(kinds.get(binding.source), binding),
      }));
      if (entries.length === 0) return [{ exchange: "", routingKey: queue }];
      // Its own key is taken from a dead letter anyway, so one stands for all.
      return deadLetterRoutingKey === null ? distinct(entries) : entries.slice(0, 1);
    },
  };
}

/** What is known of the exchanges that dead letters go through. */
interface DeadLetterExchanges {
  /** Those that queues name, and their alternates. */
  readonly named: ReadonlySet<string>;
  /** Those and the ones that they are bound to; producers may publish to these too, which nothing tells. */
  readonly leadingOn: ReadonlySet<string>;
  /** Queues that are named by their name, through the default exchange. */
  readonly queues: ReadonlySet<string>;
}

function shapeOf(
  { queue, kind, deadLetterExchange, messageTtlMs }: EffectiveSettings,
  bindings: readonly BrokerBinding[],
  { named, leadingOn, queues }: DeadLetterExchanges,
): QueueShape {
  if (kind === "stream") return "stream";
  if (deadLetterExchange !== null && messageTtlMs !== null) {
    return bindings.every(({ source }) => leadingOn.has(source)) ? "wait" : "work";
  }
  const getsDeadLetters = queues.has(queue) || bindings.some(({ source }) => named.has(source));
  const getsNothingElse = bindings.every(({ source }) => leadingOn.has(source));
  return deadLetterExchange === null && getsDeadLetters && getsNothingElse ? "dead" : "work";
}

/** What a binding tells of the keys of the messages that come through it. */
function keyThrough(kind: string | undefined, { routingKey }: BrokerBinding): string {
  if (kind === "direct") return routingKey;
  if (kind !== "topic") return anyKeyLike("#");
  return /(^|\.)[*#](\.|$)/.test(routingKey) ? anyKeyLike(routingKey) : routingKey;
}

function distinct(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [entry.routingKey, entry])).values()];
}

function deadLetterExchangesOf(
  topology: BrokerTopology,
  settings: readonly EffectiveSettings[],
  incoming: ReadonlyMap<string, readonly BrokerBinding[]>,
): DeadLetterExchanges {
  const onward = Map.groupBy(
    topology.bindings.filter(({ destinationKind }) => destinationKind === "exchange"),
    ({ source }) => source,
  );
  const alternates = new Map(topology.exchanges.map((each) => [each.name, each.arguments["alternate-exchange"]]));
  const named = new Set(settings.flatMap((each) => each.deadLetterExchange ?? []).filter((name) => name !== ""));
  // What is added to a set is still met by the loop over it.
  for (const name of named) {
    const alternate = alternates.get(name);
    if (typeof alternate === "string") named.add(alternate);
  }
  const leadingOn = new Set(named);
  for (const name of leadingOn) for (const { destination } of onward.get(name) ?? []) leadingOn.add(destination);
  // Who dead-letters is consumed; an exchange that such a queue is bound to is one that producers publish to as well.
  for (const { queue, deadLetterExchange, messageTtlMs } of settings) {
    if (deadLetterExchange === null || messageTtlMs !== null) continue;
    for (const { source } of incoming.get(queue) ?? []) {
      named.delete(source);
      leadingOn.delete(source);
    }
  }
  const queues = settings.flatMap((each) => (each.deadLetterExchange === "" ? (each.deadLetterRoutingKey ?? []) : []));
  return { named, leadingOn, queues: new Set(queues) };
}
