import type { Move } from "../../../../adopt/found.ts";
import type { Importable } from "../../../../adopt/imports-below.ts";
import type { RabbitmqCompiled } from "../../compile/compile.ts";
import { defaultDeadQueue, prefixOf } from "../../compile/names.ts";
import { bindingKey } from "../../compile/differences.ts";
import type { BrokerBinding } from "../../prove/semantics.ts";
import { sameWays } from "../left-ways.ts";
import { unbind } from "../leftovers.ts";
import { commonAmong, deadQueueToday } from "./dead-of.ts";
import { lettersOf } from "./letters-out.ts";
import { type Looking, lookAt, waitsBefore, waysInto } from "./looking.ts";
import { ownSystemOf } from "./own-system.ts";
import { oldWaysInto } from "./stays.ts";
import { isAlsoPublished, removeOf, shovelsInto, stillUsedAmong, stillUsedBy } from "./still-used.ts";

/** The types of exchanges that give each message to one of their queues. */
const choosingTypes: ReadonlySet<string> = new Set([
  "x-consistent-hash",
  "x-local-random",
  "x-modulus-hash",
  "x-random",
]);

/**
 * The consumers with a queue whose arguments would have to change, and the next name for the work queue of each.
 *
 * @param place the virtual host, and the URL of the management API; null if the input is a file
 */
export function movesOf(
  looking: Looking,
  compiled: RabbitmqCompiled,
  all: readonly Importable[],
  place: { readonly virtualHost: string; readonly url: string | null },
): readonly Move[] {
  const fixed = new Set(all.flatMap(({ place, id, reason }) => (id === null || reason === null ? [] : [place])));
  if (fixed.size === 0) return [];
  const { topology } = compiled;
  const { topology: found, version } = looking;
  const { virtualHost } = place;
  // The new queue gets these ways, too. By any other one messages come back from waiting, or nothing declares it.
  const declared = new Set([...topology.bindings, ...sameWays(found, compiled)].map(bindingKey));
  const isDeclared = (each: BrokerBinding): boolean => declared.has(bindingKey(each));
  const isLeft = (each: BrokerBinding): boolean => each.destinationKind === "exchange" || !isDeclared(each);
  const left = { ...found, bindings: found.bindings.filter(isLeft) };
  const unbound = lookAt(left, version, looking.shovels, [...looking.named]);
  const known = [...found.queues, ...topology.queues].map(({ name }) => name);
  const started = startedIn(looking, prefixOf(topology));
  const ends = new Map(looking.settings.map((each) => [each.queue, deadQueueToday(looking, each)]));
  const isCommon = commonAmong(looking, ends);
  return topology.queues.flatMap(({ name: queue, role, consumer }): readonly Move[] => {
    if (role !== "work" || consumer === null) return [];
    const own = topology.queues.filter((each) => each.consumer === consumer);
    if (!own.some(({ name }) => fixed.has(`queue ${name}`))) return [];
    const [, stem = queue] = /^(.+)\.\d+$/.exec(queue) ?? [];
    let next = 2;
    // Its dead queue and its waiting queues begin with the same name.
    while (known.some((name) => name.startsWith(`${stem}.${next}`)) && !started.has(`${stem}.${next}`)) next++;
    known.push(`${stem}.${next}`);
    const waysIn = waysInto(found, queue);
    const [doubled, others] = [waysIn.filter(isDeclared), waysIn.filter((each) => !isDeclared(each))];
    const { deadToday, keptDead } = deadQueueOf(looking, compiled, { consumer, queue, fixed, ends });
    const waiting = waitingBefore(looking, unbound, queue);
    const { waits, sharedWaits, used } = waiting;
    const staying = [...new Set(others.map(({ source }) => source))];
    const behindWaits = new Set<string | null>(
      looking.settings.flatMap((each) =>
        [...waits, ...sharedWaits].includes(each.queue) ? [each.deadLetterExchange] : [],
      ),
    );
    return [
      {
        consumer,
        queue,
        next: `${stem}.${next}`,
        keptDead,
        nextDead: defaultDeadQueue(`${stem}.${next}`),
        letters:
          deadToday === null
            ? null
            : lettersOf(looking, deadToday, [queue, ...waits], {
                ...place,
                isShared: isCommon(deadToday) || isAlsoPublished(looking, deadToday),
                isKept: keptDead !== null,
              }),
        oldWays: oldWaysInto(looking, compiled, virtualHost, keptDead === null ? [] : [keptDead], [queue, ...waits]),
        unbind: doubled.map((each) => unbind(virtualHost, each)),
        choosing: choosingAmong(looking, doubled),
        staying,
        backWays: staying.filter((source) => behindWaits.has(source)),
        ...waiting,
        remove: removeOf(found, used, virtualHost),
        isOrdered: found.queues.some(
          (each) => each.name === queue && each.arguments["x-single-active-consumer"] === true,
        ),
      },
    ];
  });
}

/** The queues of the system. In the middle of a move the new queue is there already. */
function startedIn({ topology, settings }: Looking, prefix: string): ReadonlySet<string> {
  return new Set(settings.flatMap((each) => (ownSystemOf(topology, each)?.system === prefix ? [each.queue] : [])));
}

function choosingAmong({ topology }: Looking, ways: readonly BrokerBinding[]): readonly string[] {
  const sources = new Set(ways.map(({ source }) => source));
  return topology.exchanges.flatMap(({ name, pluginType = "" }) =>
    choosingTypes.has(pluginType) && sources.has(name) ? [name] : [],
  );
}

/** The dead queue that the old queue has today, and the declared one if that is there and can stay. */
function deadQueueOf(
  { topology }: Looking,
  { contracts }: RabbitmqCompiled,
  {
    consumer,
    queue,
    fixed,
    ends,
  }: Readonly<Record<"consumer" | "queue", string>> & {
    readonly fixed: ReadonlySet<string>;
    readonly ends: ReadonlyMap<string, string | null>;
  },
) {
  const dead = contracts.find((each) => each.consumer === consumer)?.deadQueue ?? "";
  const isDeadThere = topology.queues.some(({ name }) => name === dead);
  const deadToday = isDeadThere ? dead : (ends.get(queue) ?? null);
  return {
    deadToday,
    keptDead: isDeadThere && !fixed.has(`queue ${dead}`) ? dead : null,
  };
}

/**
 * The waiting queues before an old queue.
 *
 * @param unbound the topology without the ways that the new queue takes over
 */
function waitingBefore(looking: Looking, unbound: Looking, queue: string) {
  const before = waitsBefore(looking, queue);
  const stillBefore = new Set(waitsBefore(unbound, queue).map(({ name }) => name));
  const waits = before.flatMap(({ name, isOwn }) => (isOwn ? [name] : []));
  const takenOver = before.flatMap(({ name }) => (stillBefore.has(name) ? [] : [name]));
  const sharedWaits = before.flatMap(({ name, isOwn }) => (isOwn || takenOver.includes(name) ? [] : [name]));
  const old = [queue, ...waits];
  const known = before.map(({ name }) => name);
  const usedWaits = stillUsedAmong(looking, waits, old, known);
  // The messages of others come back to the old queue.
  const fed = new Set(usedWaits.flatMap((each) => (each.feeders.length > 0 ? [each.queue] : [])));
  const ending = old.filter((name) => !fed.has(name));
  // Other steps end the ways of publishers into the old queue.
  const used = [
    { ...stillUsedBy(unbound, queue, ending, sharedWaits.concat(takenOver)), publishers: shovelsInto(looking, queue) },
    ...usedWaits,
  ];
  return { waits, sharedWaits, takenOver, used };
}
