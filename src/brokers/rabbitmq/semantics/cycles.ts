import type { BrokerTopology, EffectiveSettings } from "./broker-topology.ts";

/**
 * Which queues a dead letter can go round between. Two queues have the same number if dead letters can come from each to the other, by
 * whatever key: every binding is taken for a way.
 */
export function cyclesOf(
  topology: Pick<BrokerTopology, "exchanges" | "bindings">,
  settings: ReadonlyMap<string, EffectiveSettings>,
  alternates: ReadonlyMap<string, string>,
): ReadonlyMap<string, number> {
  const ways = waysOf(topology, settings, alternates);
  const back = new Map<string, string[]>();
  for (const [from, targets] of ways) for (const to of targets) push(back, to, from);
  // Kosaraju: in the order opposite to that in which a first walk leaves the places, walk against all ways.
  const left: string[] = [];
  const seen = new Set<string>();
  for (const place of ways.keys()) walk(place, ways, seen, (each) => left.push(each));
  const numbers = new Map<string, number>();
  const taken = new Set<string>();
  for (const [number, place] of left.toReversed().entries())
    walk(place, back, taken, (each) => numbers.set(each, number));
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
    // By the publisher's own key the default exchange can lead to any queue.
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

/** Visits everything that a place leads to and has not been seen, and tells of each place when all it leads to has been visited. */
function walk(
  start: string,
  ways: ReadonlyMap<string, readonly string[]>,
  seen: Set<string>,
  leave: (place: string) => void,
): void {
  if (seen.has(start)) return;
  seen.add(start);
  const path = [{ place: start, next: 0 }];
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const to = ways.get(top.place)?.[top.next++];
    if (to === undefined) {
      leave(top.place);
      path.pop();
    } else if (!seen.has(to)) {
      seen.add(to);
      path.push({ place: to, next: 0 });
    }
  }
}
