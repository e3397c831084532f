import type { Duration } from "./duration.ts";

/** The place of a queue's settings on RabbitMQ. */
export type QueueSettings = "arguments" | "policy";

/** More arguments of a work queue of RabbitMQ. */
export interface QueueArgumentsInput {
  /**
   * Lets one instance at a time receive messages. The others wait until it is gone. The default is that all receive.
   */
  readonly singleActiveConsumer?: boolean | undefined;
  /**
   * The most messages in the queue, with those that wait for an attempt. A full queue refuses new ones: only a publisher
   * that waits for confirms learns it. The default is no limit.
   */
  readonly maxLength?: number | undefined;
  /** The most bytes of message bodies in the queue, like `maxLength`. The default is no limit. */
  readonly maxLengthBytes?: number | undefined;
  /**
   * The time after which the broker takes back a message that is not settled. The default is the broker's, 30 minutes,
   * or more for a longer handler.
   */
  readonly consumerTimeout?: Duration | undefined;
  /**
   * The node for the leader of a new queue: the one that its maker is connected to, or one with few leaders. The default
   * is the broker's.
   */
  readonly queueLeaderLocator?: "client-local" | "balanced" | undefined;
  /** The number of nodes with a copy of a new queue. The default is the broker's, which is 3 at most. */
  readonly quorumInitialGroupSize?: number | undefined;
}
