import type { BrokerTopology, DeathReason, EffectiveSettings, Semantics } from "../semantics.ts";
import { alternatesByPolicy } from "../semantics.ts";
import { route, routingIndex } from "../routing.ts";
import { anyKeyLike, unknownHeaders } from "../unknown-message.ts";
import type { Finding } from "../../finding.ts";

/**
 * Queues that dead-letter to each other at least once and refuse messages when they are full: when both are full, each waits for the other
 * to take its dead letters. Source: https://www.rabbitmq.com/docs/quorum-queues
 */
export function blockingCircles(topology: BrokerTopology, semantics: Semantics): Finding[] {
  const candidates = new Map(
    topology.queues.flatMap(({ name }): [string, EffectiveSettings][] => {
      const settings = semantics.settings(name);
      const isBounded = settings !== null && (settings.maxLength ?? settings.maxLengthBytes) !== null;
      return isBounded && settings.deadLetterStrategy === "at-least-once" ? [[name, settings]] : [];
    }),
  );
  if (candidates.size === 0) return [];
  const index = routingIndex(topology, alternatesByPolicy(topology.exchanges, topology.policies));
  const targets = new Map(
    [...candidates].map(([name, { deadLetterExchange, deadLetterRoutingKey }]) => {
      const routingKeys = [deadLetterRoutingKey ?? anyKeyLike("#")];
      const reached = reasons.flatMap((reason) => {
        const headers = {
          [unknownHeaders]: null,
          "x-first-death-reason": reason,
          "x-last-death-reason": reason,
        };
        return route(index, deadLetterExchange ?? "", { routingKeys, headers }) ?? [];
      });
      return [name, reached.filter((each) => candidates.has(each))];
    }),
  );
  return [...candidates.keys()]
    .filter((name) => isReachedFrom(name, targets))
    .map((queue) => ({
      code: "RD432",
      queue,
      predicate: "is in a circle of queues that block each other when they are full",
      notes: [
        "they dead-letter at least once and refuse what they have no room for: when all of the circle are full, none of them can give its dead letters away, and nothing moves any more",
      ],
      help: "take the length limit of one queue of the circle away, such as the wait queue's, and limit what comes in at the exchange",
    }));
}

/** An exchange may tell dead letters by what they died of. */
const reasons: readonly DeathReason[] = ["rejected", "expired", "maxlen", "delivery_limit"];

function isReachedFrom(name: string, targets: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set<string>(targets.get(name));
  for (const each of seen) for (const next of targets.get(each) ?? []) seen.add(next);
  return seen.has(name);
}
