import type { DeployedPart } from "../broker.ts";
import type { RabbitmqCompiled } from "./compile.ts";
import type { AttemptNumber } from "./contract.ts";

/**
 * The queues and exchanges of a system. RabbitMQ refuses to declare one again with another kind or other arguments. How attempts are
 * counted cannot change either while messages are in a work queue.
 * Source: docs, "Queues", section "Declaration and Property Equivalence"; "Exchanges" says the same of them.
 */
export function deployedPartsOf({ topology, contracts }: RabbitmqCompiled): readonly DeployedPart[] {
  const counted = new Map(contracts.map(({ workQueue, attemptNumber }) => [workQueue, countOf(attemptNumber)]));
  const delays = new Map(topology.policies.map(({ name, definition }) => [name, definition["message-ttl"]]));
  return [
    ...topology.queues.map(({ name, role, consumer, durable, autoDelete, arguments: given }): DeployedPart => {
      const waitsMs = delays.get(name);
      return {
        kind: "queue",
        name,
        consumer,
        holds: role === "work" || role === "dead" ? role : "waiting",
        longestWaitMs: typeof waitsMs === "number" ? waitsMs : null,
        // What is in the queue was counted by one rule, and the policy of another rule would let its consumer run into a loop.
        fixed: {
          durable,
          autoDelete,
          ...given,
          ...(role === "work" ? { "attempts counted in": counted.get(name) ?? "" } : {}),
        },
      };
    }),
    ...topology.exchanges.map(({ name, consumer, kind, durable, autoDelete, arguments: given }): DeployedPart => ({
      kind: "exchange",
      name,
      consumer,
      holds: null,
      longestWaitMs: null,
      fixed: { kind, durable, autoDelete, ...given },
    })),
  ];
}

/** The header or the key by which the broker, or the copies of a consumer, say which attempt is next. */
function countOf(where: AttemptNumber | null): string {
  if (where === null) return "nothing";
  return where.from === "header" ? where.header : "the routing key";
}
