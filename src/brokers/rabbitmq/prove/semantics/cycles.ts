import { componentsOf } from "../../../../explore/components.ts";
import type { BrokerTopology, EffectiveSettings } from "./broker-topology.ts";

/**
 * Finds the queues that a dead letter can circle between. Two queues have the same number if dead letters can get from
 * each to the other. Every binding counts as a route, for any key.
 */
export function cyclesOf(
  topology: Pick<BrokerTopology, "exchanges" | "bindings">,
  settings: ReadonlyMap<string, EffectiveSettings>,
  alternates: ReadonlyMap<string, string>,
): ReadonlyMap<string, number> {
  const numbers = componentsOf(waysOf(topology, settings, alternates));
  return new Map([...settings.keys()].map((queue) => [queue, numbers.get(queueAt(queue)) ?? -1]));
}

const queueAt = (name: string): string => `queue ${name}`;
const exchangeAt = (name: string): string => `exchange ${name}`;

function waysOf(
  { exchanges, bindings }: Pick<BrokerTopology, "exchanges" | "bindings">,
  settings: ReadonlyMap<string, EffectiveSettings>,
  alternates: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly string[]> {
  const ways = new Map<string, string[]>();
  for (const { source, destination, destinationKind } of bindings) {
    push(ways, exchangeAt(source), destinationKind === "exchange" ? exchangeAt(destination) : queueAt(destination));
  }
  for (const exchange of exchanges) {
    const alternate = exchange.arguments["alternate-exchange"] ?? alternates.get(exchange.name);
    if (typeof alternate === "string") push(ways, exchangeAt(exchange.name), exchangeAt(alternate));
  }
  for (const { queue, deadLetterExchange, deadLetterRoutingKey } of settings.values()) {
    const from = queueAt(queue);
    ways.set(from, []);
    if (deadLetterExchange === null) continue;
    if (deadLetterExchange !== "") push(ways, from, exchangeAt(deadLetterExchange));
    else if (deadLetterRoutingKey !== null) push(ways, from, queueAt(deadLetterRoutingKey));
    // With the publisher's own key, the default exchange can lead to any queue.
    else push(ways, from, exchangeAt(""));
  }
  if ([...settings.values()].some((each) => each.deadLetterExchange === "" && each.deadLetterRoutingKey === null)) {
    ways.set(exchangeAt(""), [...settings.keys()].map(queueAt));
  }
  return ways;
}

function push(ways: Map<string, string[]>, from: string, to: string): void {
  const known = ways.get(from);
  if (known === undefined) ways.set(from, [to]);
  else known.push(to);
}
