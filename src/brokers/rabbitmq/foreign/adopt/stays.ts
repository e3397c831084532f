import type { Move, OldWays, Stay } from "../../../../adopt/found.ts";
import { matchesPattern } from "../../../../contract/topic-pattern.ts";
import type { RabbitmqCompiled } from "../../compile/compile.ts";
import { bindingKey } from "../../compile/differences.ts";
import { prefixOf, sharedRole } from "../../compile/names.ts";
import type { BrokerBinding, BrokerExchange } from "../../prove/semantics.ts";
import { sameWays } from "../left-ways.ts";
import { unbind } from "../leftovers.ts";
import { commonAmong, deadQueueToday } from "./dead-of.ts";
import { isSharedDelay } from "./frameworks.ts";
import { lettersOf } from "./letters-out.ts";
import { type Looking, waitsBefore, waysInto } from "./looking.ts";
import { ownSystemOf } from "./own-system.ts";
import { isAlsoPublished, removeOf, stillUsedAmong } from "./still-used.ts";

/**
 * The consumers that keep their work queue, with the remains of their old retries. A deployment deletes none of these,
 * because messages may wait there.
 */
export function staysOf(
  looking: Looking,
  compiled: RabbitmqCompiled,
  moves: readonly Move[],
  place: { readonly virtualHost: string; readonly url: string | null },
): readonly Stay[] {
  const { virtualHost } = place;
  const ends = new Map(looking.settings.map((each) => [each.queue, deadQueueToday(looking, each)]));
  const isCommon = commonAmong(looking, ends);
  const moved = new Set(moves.map(({ consumer }) => consumer));
  const systems = systemsIn(looking, compiled);
  const found = new Map(looking.settings.map((each) => [each.queue, each]));
  return compiled.contracts.flatMap(({ consumer, workQueue: queue, deadQueue }): readonly Stay[] => {
    const there = found.get(queue ?? "");
    if (queue === null || there === undefined || moved.has(consumer)) return [];
    const waits = waitsBefore(looking, queue).flatMap(({ name, isOwn }) =>
      isOwn && !isPartOf(systems, name) ? [name] : [],
    );
    const into = [queue, ...(deadQueue === null ? [] : [deadQueue])];
    const oldWays = oldWaysInto(looking, compiled, virtualHost, into, [queue, ...waits]);
    const isDeployed = ownSystemOf(looking.topology, there) !== null;
    if (isDeployed && waits.length + oldWays.ends.length === 0) return [];
    const used = stillUsedAmong(looking, waits, [queue, ...waits]);
    const deadToday = ends.get(queue) ?? null;
    const letters =
      deadToday === null || deadToday === deadQueue
        ? null
        : lettersOf(looking, deadToday, [queue, ...waits], {
            ...place,
            isShared: isCommon(deadToday) || isAlsoPublished(looking, deadToday),
            isKept: false,
          });
    const remove = removeOf(looking.topology, used, virtualHost);
    return [{ consumer, queue, isDeployed, deadQueue, letters, waits, used, remove, oldWays }];
  });
}

/**
 * The ways into queues that stay, and that no declared message takes. A way that another queue or exchange sends by stays,
 * and so does one by which producers delay messages.
 *
 * @param own the old queues of the consumer, which send nothing there at the end
 */
export function oldWaysInto(
  { topology: found, settings, surroundings }: Looking,
  compiled: RabbitmqCompiled,
  virtualHost: string,
  queues: readonly string[],
  own: readonly string[],
): OldWays {
  const systems = systemsIn({ topology: found, settings }, compiled);
  const declared = new Set([...compiled.topology.bindings, ...sameWays(found, compiled)].map(bindingKey));
  const old = queues
    .flatMap((queue) => waysInto(found, queue))
    .filter((each) => !declared.has(bindingKey(each)))
    .filter(({ source }) => !isPartOf(systems, source));
  const senders = (source: string, ways: readonly BrokerBinding[]): readonly string[] => [
    ...settings.flatMap(({ queue, deadLetterExchange, deadLetterRoutingKey }) =>
      deadLetterExchange === source && canTake(ways, surroundings.exchanges.get(source), deadLetterRoutingKey)
        ? [queue]
        : [],
    ),
    ...found.bindings.flatMap((each) =>
      each.destinationKind === "exchange" && each.destination === source ? [each.source] : [],
    ),
    ...[...surroundings.alternates].flatMap(([exchange, alternate]) => (alternate === source ? [exchange] : [])),
  ];
  const bySource = [...Map.groupBy(old, ({ source }) => source)].map(([source, ways]) => {
    const others = senders(source, ways).filter((name) => !own.includes(name));
    const because = isSharedDelay(source)
      ? "producers delay messages by it"
      : others.length > 0
        ? `messages of ${others.join(", ")} come by it`
        : null;
    return { source, ways, because };
  });
  return {
    ends: bySource.flatMap(({ source, ways, because }) =>
      because === null
        ? [
            {
              source,
              keys: [...new Set(ways.map(({ routingKey }) => routingKey))].filter((key) => key !== ""),
              behind: own.filter((queue) => senders(source, ways).includes(queue)),
              unbind: ways.map((each) => unbind(virtualHost, each)),
            },
          ]
        : [],
    ),
    staying: bySource.flatMap(({ source, because }) => (because === null ? [] : [{ source, because }])),
  };
}

/**
 * False if no letter with this key takes one of these ways. A key from the queue is the only one of a letter: the keys of
 * CC and BCC count no more. Source: `rabbit_dead_letter:publish/5`.
 */
function canTake(ways: readonly BrokerBinding[], exchange: BrokerExchange | undefined, key: string | null): boolean {
  if (key === null || exchange === undefined || exchange.isGuessed === true || exchange.pluginType !== undefined)
    return true;
  if (exchange.kind === "direct") return ways.some(({ routingKey }) => routingKey === key);
  return exchange.kind !== "topic" || ways.some(({ routingKey }) => matchesPattern(routingKey, key));
}

/** The names that shared resources of Redeliver's begin with. */
function systemsIn({ topology, settings }: Pick<Looking, "topology" | "settings">, compiled: RabbitmqCompiled) {
  const own = settings.flatMap((each) => ownSystemOf(topology, each)?.system ?? []);
  return new Set([prefixOf(compiled.topology), ...own]);
}

function isPartOf(systems: ReadonlySet<string>, name: string): boolean {
  return [...systems].some((system) => sharedRole(system, name) !== null);
}
