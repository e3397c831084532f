import type { Contract } from "../compile/contract.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import { type BrokerTopology, type SemanticsVersion, semanticsOf } from "../prove/semantics.ts";
import { topicIndex } from "../prove/topic-index.ts";
import { unroutedOf } from "./audit/partial-routes.ts";
import { surroundingsOf } from "./audit/surroundings.ts";

/**
 * Adds keys that a dead-letter exchange of the broker has no route for. The proof takes one example of each pattern, and
 * that one may have a route.
 */
export function withUnroutedExamples(
  { contracts, topology }: RabbitmqCompiled,
  found: BrokerTopology,
  version: SemanticsVersion,
): readonly Contract[] {
  const semantics = semanticsOf(found, version);
  const keeping = new Set(
    contracts.flatMap(({ workQueue }) => {
      const settings = semantics.settings(workQueue ?? "");
      return settings !== null && settings.deadLetterExchange !== null && settings.deadLetterRoutingKey === null
        ? [settings]
        : [];
    }),
  );
  if (keeping.size === 0) return contracts;
  const surroundings = surroundingsOf(found, semantics);
  const keys = new Map(
    [...keeping].map((each) => [
      each.queue,
      unroutedOf(semantics, surroundings, each).flatMap(({ key, isPart }) => (isPart ? [key] : [])),
    ]),
  );
  const isTopic = (name: string): boolean =>
    topology.exchanges.some((each) => each.name === name && each.kind === "topic" && each.role === "source");
  return contracts.map((contract) => {
    const unrouted = keys.get(contract.workQueue ?? "") ?? [];
    if (unrouted.length === 0) return contract;
    const sources = contract.sources.map((source) => {
      const patterns = topicIndex(source.routingKeys.map((pattern) => ({ pattern, item: pattern })));
      const more = isTopic(source.exchange) ? unrouted.filter((key) => patterns.match(key).length > 0) : [];
      return { ...source, routingKeys: [...more, ...source.routingKeys] };
    });
    return { ...contract, sources };
  });
}
