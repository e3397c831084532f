import type { BrokerTopology, EffectiveSettings, Semantics } from "../semantics.ts";
import { alternatesByPolicy } from "../semantics.ts";
import type { CertainRoutes } from "./certain-routes.ts";
import { certainRoutesOf } from "./certain-routes.ts";
import type { Neighbourhood, QueueShape } from "./shapes.ts";
import { keyThrough, shapesOf } from "./shapes.ts";

export type { QueueShape } from "./shapes.ts";

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
  /** Exchanges whose type the source does not tell, or has no rules here. */
  readonly guessed: ReadonlySet<string>;
  readonly certainly: CertainRoutes;
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
  const neighbourhood: Neighbourhood = {
    topology,
    semantics,
    settings,
    kinds,
    incoming,
    alternates: alternatesOf(topology),
  };
  const { shapes, leadingOn } = shapesOf(neighbourhood);
  return {
    shapeOf: (queue) => shapes.get(queue) ?? "work",
    exchanges: new Set(kinds.keys()),
    certainly: certainRoutesOf(topology),
    guessed: new Set(topology.exchanges.filter(({ isGuessed }) => isGuessed === true).map(({ name }) => name)),
    entriesOf: ({ queue, deadLetterRoutingKey }) => {
      const bindings = incoming.get(queue) ?? [];
      const published = bindings.filter(({ source }) => !leadingOn.has(source));
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

/** The argument goes before the policy. Source: `rabbit_exchange:process_alternate/2`, `rabbit_policy:get_arg/3`. */
function alternatesOf({ exchanges, policies }: BrokerTopology): ReadonlyMap<string, string> {
  const alternates = new Map(alternatesByPolicy(exchanges, policies));
  for (const { name, arguments: given } of exchanges) {
    const argument = given["alternate-exchange"];
    if (typeof argument === "string") alternates.set(name, argument);
  }
  return alternates;
}

function distinct(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [entry.routingKey, entry])).values()];
}
