import type { DeployedPart } from "../../deployed-part.ts";
import type { SqsCompiled } from "./compile.ts";

/**
 * The queues and topics of a system. Only their FIFO attribute cannot change, and the name shows it. Source: API
 * Reference, `CreateQueue`, FifoQueue; SNS `CreateTopic`, FifoTopic.
 */
export function deployedPartsOf({ topology }: SqsCompiled): readonly DeployedPart[] {
  return [
    ...topology.queues.map(({ name, role, consumer, fifo, retentionSeconds }): DeployedPart => ({
      kind: "queue",
      name,
      consumer,
      holds: role === "work" ? "work" : "dead",
      longestWaitMs: null,
      keepsMs: retentionSeconds * 1_000,
      fixed: { fifo },
    })),
    ...topology.topics.map(({ name, source, fifo, owner }): DeployedPart => ({
      kind: "topic",
      name,
      consumer: null,
      source,
      holds: null,
      longestWaitMs: null,
      fixed: { fifo },
      ...(owner === undefined ? {} : { owner }),
    })),
  ];
}
