import type { DeployedPart } from "../broker.ts";
import type { RabbitmqCompiled } from "./compile.ts";

/**
 * The queues and exchanges of a system. RabbitMQ refuses to declare one again with another kind or other arguments.
 * Source: docs, "Queues", section "Declaration and Property Equivalence"; "Exchanges" says the same of them.
 */
export function deployedPartsOf({ topology }: RabbitmqCompiled): readonly DeployedPart[] {
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
        fixed: { durable, autoDelete, ...given },
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
