import type { DeployedPart } from "../broker.ts";
import type { ServicebusCompiled } from "./compile.ts";

/**
 * The queues, topics and subscriptions of a system. Sessions and duplicate detection are chosen when an entity is made, and never again.
 * Source: "Message sessions" and "Duplicate detection" in Microsoft's documentation of Service Bus.
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
    ...topology.topics.map(({ name, duplicateDetectionMs }): DeployedPart => ({
      kind: "topic",
      name,
      consumer: null,
      holds: null,
      longestWaitMs: null,
      fixed: { duplicateDetection: duplicateDetectionMs !== null },
    })),
    ...topology.subscriptions.map(({ topic, name, consumer, requiresSession }): DeployedPart => ({
      kind: "subscription",
      name: `${topic}/${name}`,
      consumer,
      // In order a consumer receives from its subscription itself; else a subscription forwards at once.
      holds: requiresSession ? "work" : null,
      longestWaitMs: null,
      fixed: { requiresSession },
    })),
  ];
}
