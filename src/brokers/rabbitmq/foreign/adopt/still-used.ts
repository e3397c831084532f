import type { StillUsed } from "../../../../adopt/found.ts";
import type { BrokerBinding } from "../../prove/semantics.ts";
import { isSharedDelay } from "./frameworks.ts";
import { type Looking, waysInto } from "./looking.ts";

/**
 * The messages that may come into an old queue when its own consumer has gone. Nobody may delete it before they end:
 * without the queue the broker drops them.
 *
 * @param own the old queues of the consumer, which send nothing there at the end
 * @param returning waiting queues whose messages come back to it, and have to be empty anyway
 */
export function stillUsedBy(
  { topology, settings, surroundings }: Looking,
  queue: string,
  own: readonly string[],
  returning: readonly string[] = [],
): StillUsed {
  const known = new Set([...own, ...returning]);
  const others = settings.filter((each) => !known.has(each.queue) && !isSharedDelay(each.queue));
  const deadLetterExchanges = new Set(
    settings.flatMap((each) => (own.includes(each.queue) ? (each.deadLetterExchange ?? []) : [])),
  );
  const isEntry = ({ destination, destinationKind }: BrokerBinding): boolean =>
    destinationKind === "queue" && surroundings.shapeOf(destination) === "work" && !own.includes(destination);
  // Programs hardly publish to an exchange that is there for dead letters.
  const isTheirs = (source: string): boolean =>
    deadLetterExchanges.has(source) && !topology.bindings.some((each) => each.source === source && isEntry(each));
  const published = waysInto(topology, queue).filter(({ source }) => !isTheirs(source) && !isSharedDelay(source));
  return {
    queue,
    feeders: others.filter((each) => surroundings.aimsOf(each).includes(queue)).map((each) => each.queue),
    publishers: [...Map.groupBy(published, ({ source }) => source)].map(([source, ways]) => {
      const keys = [...new Set(ways.map(({ routingKey }) => routingKey))].filter((key) => key !== "");
      return `${source}${keys.length === 0 ? "" : ` with ${keys.join(", ")}`}`;
    }),
  };
}
