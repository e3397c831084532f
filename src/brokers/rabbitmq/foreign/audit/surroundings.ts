import type { BrokerBinding, BrokerTopology, EffectiveSettings, Semantics } from "../../prove/semantics.ts";
import { alternatesByPolicy, dropsHead, isBounded } from "../../prove/semantics.ts";
import { certainRoutesOf } from "./certain-routes.ts";
import { keyThrough } from "../../prove/unknown-message.ts";
import { type Neighbourhood, type QueueShape, shapesOf } from "./shapes.ts";

export type { QueueShape } from "./shapes.ts";

/** A way of a message into a queue: the exchange and the routing key, or a key that stands for a pattern. */
export interface Entry {
  readonly exchange: string;
  readonly routingKey: string;
}

export type Surroundings = ReturnType<typeof surroundingsOf>;

/** The most entries into one queue that are looked at. The others differ only in the routing key. */
const mostEntries = 1_000;

export function surroundingsOf(topology: BrokerTopology, semantics: Semantics) {
  const kinds = new Map(topology.exchanges.map(({ name, kind }) => [name, kind]));
  const incoming = Map.groupBy(
    topology.bindings.filter(({ destinationKind }) => destinationKind === "queue"),
    ({ destination }) => destination,
  );
  const settings = topology.queues.flatMap(({ name }) => semantics.settings(name) ?? []);
  const neighbourhood: Neighbourhood = {
    topology,
    semantics,
    settings,
    kinds,
    incoming,
    alternates: alternatesOf(topology),
  };
  const bindingsInto = (queue: string): readonly BrokerBinding[] => {
    const bindings = incoming.get(queue) ?? [];
    const published = bindings.filter(({ source }) => !leadingOn.has(source));
    return (published.length > 0 ? published : bindings).slice(0, mostEntries);
  };
  let words: ReturnType<typeof wordsOf> | undefined;
  const { shapes, fedBy, takesEvents, leadingOn, fedByDeaths, aimsOf } = shapesOf(neighbourhood);
  return {
    shapeOf: (queue: string): QueueShape => shapes.get(queue) ?? "work",
    fedBy,
    takesEvents,
    /** True for a wait queue that dead letters come into, so that producers need not publish there. */
    isFedByDeaths: (queue: string) => fedByDeaths.has(queue),
    /** The queues that messages reach when they expire in a queue. */
    aimsOf,
    exchanges: new Map(topology.exchanges.map((exchange) => [exchange.name, exchange])),
    /** The alternate exchange of each exchange that has one. The alternate need not exist. */
    alternates: neighbourhood.alternates,
    certainly: certainRoutesOf(topology),
    /** The queues that can be full, and then refuse messages. */
    refusing: new Set(settings.filter((each) => isBounded(each) && !dropsHead(each)).map(({ queue }) => queue)),
    /** Exchanges of a type that the source does not name, or that has no rules here. */
    guessed: new Set(topology.exchanges.filter(({ isGuessed }) => isGuessed === true).map(({ name }) => name)),
    /** The bindings that bring messages of publishers into a queue, or all if none does. */
    bindingsInto,
    strangeWord: () => (words ??= wordsOf(topology)).strange,
    mostWords: () => (words ??= wordsOf(topology)).most,
    /** At least one for each queue. Entries that make no difference are left out. */
    entriesOf: ({ queue, deadLetterRoutingKey }: EffectiveSettings): readonly Entry[] => {
      const entries = bindingsInto(queue).map((binding): Entry => ({
        exchange: binding.source,
        routingKey: keyThrough(kinds.get(binding.source), binding),
      }));
      if (entries.length === 0) return [{ exchange: "", routingKey: queue }];
      // A dead letter with a routing key from the queue loses its own key, so one entry stands for all.
      if (deadLetterRoutingKey !== null) return entries.slice(0, 1);
      return [...new Map(entries.map((entry) => [entry.routingKey, entry])).values()];
    },
  };
}

/** A word that no binding names, so that only wildcards take it, and the number of words of the longest key. */
function wordsOf({ bindings }: BrokerTopology): { readonly strange: string; readonly most: number } {
  const all = bindings.map(({ routingKey }) => routingKey.split("."));
  let strange = "any";
  for (let next = 2; all.some((words) => words.includes(strange)); next++) strange = `any${next}`;
  return { strange, most: all.reduce((most, { length }) => Math.max(most, length), 0) };
}

/**
 * The argument takes precedence over the policy. Source: `rabbit_exchange:process_alternate/2`,
 * `rabbit_policy:get_arg/3`.
 */
function alternatesOf({ exchanges, policies }: BrokerTopology): ReadonlyMap<string, string> {
  const alternates = new Map(alternatesByPolicy(exchanges, policies));
  for (const { name, arguments: given } of exchanges) {
    const argument = given["alternate-exchange"];
    if (typeof argument === "string") alternates.set(name, argument);
  }
  return alternates;
}
