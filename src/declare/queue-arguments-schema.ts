import { z } from "zod";

import { about, duration, wholeNumber } from "./schema-parts.ts";

/** The arguments of a work queue that Redeliver does not need for itself. */
export const queueArguments = z.strictObject({
  singleActiveConsumer: about(
    z.boolean().optional(),
    "Lets one instance at a time receive messages. The others wait until it is gone. The default is that all receive.",
    true,
  ),
  maxLength: about(
    wholeNumber.min(1).optional(),
    "The most messages in the queue, with those that wait for an attempt. A full queue refuses new ones: only a publisher that waits for confirms learns it. The default is no limit.",
    100_000,
  ),
  maxLengthBytes: about(
    wholeNumber.min(1).optional(),
    "The most bytes of message bodies in the queue, like `maxLength`. The default is no limit.",
    1_000_000,
  ),
  consumerTimeout: about(
    duration.optional(),
    "The time after which the broker takes back a message that is not settled. The default is the broker's, 30 minutes, or more for a longer handler.",
    "1h",
  ),
  queueLeaderLocator: about(
    z.enum(["client-local", "balanced"]).optional(),
    "The node for the leader of a new queue: the one that its maker is connected to, or one with few leaders. The default is the broker's.",
    "balanced",
  ),
  quorumInitialGroupSize: about(
    wholeNumber.min(1).optional(),
    "The number of nodes with a copy of a new queue. The default is the broker's, which is 3 at most.",
    5,
  ),
});
