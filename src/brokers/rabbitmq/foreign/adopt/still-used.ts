import type { StillUsed } from "../../../../adopt/found.ts";
import { inShell } from "../../../../adopt/in-shell.ts";
import type { BrokerBinding, BrokerTopology } from "../../prove/semantics.ts";
import { path } from "../leftovers.ts";
import { isSharedDelay } from "./frameworks.ts";
import { type Looking, waysInto } from "./looking.ts";

/**
 * The messages that may come into an old queue when its own consumer has gone. Nobody may delete it before they end:
 * without the queue the broker drops them.
 *
 * @param own the old queues of the consumer. They send nothing there at the end
 * @param returning the waiting queues before it. Other steps wait for their messages
 */
export function stillUsedBy(
  looking: Looking,
  queue: string,
  own: readonly string[],
  returning: readonly string[] = [],
): StillUsed {
  const { topology, settings, surroundings } = looking;
  const known = new Set([...own, ...returning]);
  const others = settings.filter((each) => !known.has(each.queue) && surroundings.aimsOf(each).includes(queue));
  const delays = others.filter((each) => isSharedDelay(each.queue));
  const deadLetterExchanges = new Set(
    settings.flatMap((each) => (own.includes(each.queue) ? (each.deadLetterExchange ?? []) : [])),
  );
  const isEntry = ({ destination, destinationKind }: BrokerBinding): boolean =>
    destinationKind === "queue" && surroundings.shapeOf(destination) === "work" && !own.includes(destination);
  // Programs hardly publish to an exchange that is there for dead letters.
  const isTheirs = (source: string): boolean =>
    deadLetterExchanges.has(source) && !topology.bindings.some((each) => each.source === source && isEntry(each));
  const ways = waysInto(topology, queue).filter(({ source }) => !isSharedDelay(source));
  const passed = exchangesBefore(
    topology.bindings,
    ways.map(({ source }) => source),
  );
  const published = [
    ...ways,
    ...topology.bindings.filter((each) => each.destinationKind === "exchange" && passed.has(each.destination)),
  ].filter(({ source }) => !isTheirs(source));
  const isFed = ways.length > 0 || settings.some((each) => surroundings.aimsOf(each).includes(queue));
  return {
    queue,
    feeders: [
      ...others.filter((each) => !delays.includes(each)).map((each) => `the dead letters of ${each.queue}`),
      ...(delays.length === 0 ? [] : [`the messages that wait in ${delays[0]?.queue} and the like`]),
      ...[...surroundings.alternates]
        .filter(([, alternate]) => passed.has(alternate))
        .map(([exchange]) => `the messages of ${exchange} that have no other route`),
    ],
    publishers: [
      ...[...Map.groupBy(published, ({ source }) => source)].map(([source, all]) => {
        const keys = [...new Set(all.map(({ routingKey }) => routingKey))].filter((key) => key !== "");
        return `${source}${keys.length === 0 ? "" : ` with ${keys.join(", ")}`}`;
      }),
      ...shovelsInto(looking, queue),
      // The default exchange is its only way in.
      ...(isFed ? [] : [`${queue} by its name`]),
    ],
  };
}

/** The shovels that publish to a queue by its name. */
export function shovelsInto({ shovels }: Looking, queue: string): readonly string[] {
  return shovels.flatMap(({ name, intoQueue }) => (intoQueue === queue ? [`${queue} by the shovel ${name}`] : []));
}

/** The same for several old queues. If messages of others come into one, they may go on into the next. */
export function stillUsedAmong(
  looking: Looking,
  queues: readonly string[],
  own: readonly string[],
  returning: readonly string[] = [],
): readonly StillUsed[] {
  const fed = new Set<string>();
  for (;;) {
    const [left, back] = [own, returning].map((names) => names.filter((name) => !fed.has(name)));
    const used = queues.map((name) => stillUsedBy(looking, name, left ?? [], back));
    const more = used.filter(({ queue, feeders }) => feeders.length > 0 && !fed.has(queue));
    if (more.length === 0) return used;
    for (const { queue } of more) fed.add(queue);
  }
}

/**
 * The requests that delete queues. A queue stays while the dead letters of others come into it. The counts of the
 * management API are late, so the broker itself refuses to delete a classic queue with messages. It cannot do that for a
 * quorum queue. Source: `delete_resource` in `rabbit_mgmt_wm_queue.erl`, `delete` in `rabbit_quorum_queue.erl`.
 */
export function removeOf(
  { queues }: BrokerTopology,
  used: readonly Omit<StillUsed, "publishers">[],
  virtualHost: string,
): readonly string[] {
  const classic = new Set(queues.flatMap(({ name, kind }) => (kind === "classic" ? [name] : [])));
  return used
    .filter(({ feeders }) => feeders.length === 0)
    .map(({ queue }) => {
      const request = path("queues", virtualHost, queue);
      return `DELETE ${classic.has(queue) ? inShell(`${request}?if-empty=true`) : request}`;
    });
}

/** These exchanges, and all that lead into them. */
function exchangesBefore(bindings: readonly BrokerBinding[], first: readonly string[]): ReadonlySet<string> {
  const passed = new Set(first);
  // The loop also reaches exchanges that are added to the set while it runs.
  for (const exchange of passed)
    for (const each of bindings)
      if (each.destinationKind === "exchange" && each.destination === exchange) passed.add(each.source);
  return passed;
}

/** True if programs publish into a dead queue, too, so that some of its messages never died. */
export function isAlsoPublished({ topology, surroundings }: Looking, dead: string): boolean {
  const passed = exchangesBefore(
    topology.bindings,
    waysInto(topology, dead).map(({ source }) => source),
  );
  const isAlternate = [...surroundings.alternates.values()].some((each) => passed.has(each));
  return (
    isAlternate ||
    topology.bindings.some(
      ({ source, destination, destinationKind }) =>
        passed.has(source) && destinationKind === "queue" && surroundings.shapeOf(destination) === "work",
    )
  );
}
