import type { BrokerTopology, EffectiveSettings, Semantics } from "../../prove/semantics.ts";
import { alternatesByPolicy, deathReasons, isBounded } from "../../prove/semantics.ts";
import { route, routingIndex } from "../../prove/routing.ts";
import { anyKeyLike, unknownHeaders } from "../../prove/unknown-message.ts";
import type { QueueFinding } from "./sentences.ts";

/**
 * Finds queues that dead-letter to each other at least once and refuse messages when they are full. If both are full,
 * each waits for the other to take its dead letters. Source: https://www.rabbitmq.com/docs/quorum-queues
 */
export function blockingCircles(topology: BrokerTopology, semantics: Semantics): QueueFinding[] {
  const candidates = new Map(
    topology.queues.flatMap(({ name }): [string, EffectiveSettings][] => {
      const settings = semantics.settings(name);
      const isMeant = settings !== null && isBounded(settings) && settings.deadLetterStrategy === "at-least-once";
      return isMeant ? [[name, settings]] : [];
    }),
  );
  if (candidates.size === 0) return [];
  const index = routingIndex(topology, alternatesByPolicy(topology.exchanges, topology.policies));
  const targets = new Map(
    [...candidates].map(([name, { deadLetterExchange, deadLetterRoutingKey }]) => {
      const routingKeys = [deadLetterRoutingKey ?? anyKeyLike("#")];
      // An exchange may route dead letters by their reason.
      const reached = deathReasons.flatMap((reason) => {
        const headers = { [unknownHeaders]: null, "x-first-death-reason": reason, "x-last-death-reason": reason };
        return route(index, deadLetterExchange ?? "", { routingKeys, headers }) ?? [];
      });
      return [name, reached.filter((each) => candidates.has(each))];
    }),
  );
  return [...candidates.keys()]
    .filter((name) => isReachedFrom(name, targets))
    .map((subject) => ({ code: "RD432", subject }));
}

function isReachedFrom(name: string, targets: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set<string>(targets.get(name));
  for (const each of seen) for (const next of targets.get(each) ?? []) seen.add(next);
  return seen.has(name);
}
