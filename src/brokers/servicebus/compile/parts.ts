import type { DeployedPart } from "../../deployed-part.ts";
import type { ServicebusCompiled } from "./compile.ts";

/**
 * The queues, topics and subscriptions of a system. Sessions and duplicate detection are fixed when an entity is
 * created. Source: "Message sessions" and "Duplicate detection" in Microsoft's documentation of Service Bus.
 */
export function deployedPartsOf({ topology }: ServicebusCompiled): readonly DeployedPart[] {
  return [
    ...topology.queues.map((queue): DeployedPart => ({
      kind: "queue",
      name: queue.name,
      consumer: queue.consumer,
      holds: queue.role === "tier" ? "waiting" : queue.role,
      longestWaitMs: queue.timeToLiveMs,
      fixed: { requiresSession: queue.requiresSession, duplicateDetection: queue.duplicateDetectionMs !== null },
    })),
    ...topology.topics.map(({ name, source, owner, duplicateDetectionMs }): DeployedPart => {
      const part = { kind: "topic", name, consumer: null, source, holds: null, longestWaitMs: null } as const;
      if (owner === "other") return { ...part, owner, fixed: {} };
      return { ...part, fixed: { duplicateDetection: duplicateDetectionMs !== null } };
    }),
    ...topology.subscriptions.map(({ topic, name, consumer, requiresSession }): DeployedPart => ({
      kind: "subscription",
      name: `${topic}/${name}`,
      consumer,
      // With order, a consumer receives from the subscription itself. Otherwise a subscription forwards at once.
      holds: requiresSession ? "work" : null,
      longestWaitMs: null,
      fixed: { requiresSession },
    })),
  ];
}
