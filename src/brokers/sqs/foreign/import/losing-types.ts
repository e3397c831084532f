import type { LosingType } from "../../../broker.ts";
import { queueType, subscriptionType } from "./resource-types.ts";
import { wordOf } from "../../../../diagnostics/word-of.ts";

/**
 * Source: `DeleteQueue` in the API reference of SQS ("regardless of the queue's contents"); `Unsubscribe` in that of
 * SNS.
 */
export const losingTypes: Readonly<Record<string, LosingType>> = Object.freeze({
  [queueType]: {
    holds: true,
    loss: "SQS deletes every message in it",
    identity: ["name", "region"],
  },
  [subscriptionType]: {
    holds: false,
    loss: "messages published to its topic do not reach its queue until it exists again",
    identity: ["topic", "endpoint", "region"],
    strands: ({ endpoint }, staying) => {
      const queue = staying.find(
        ({ type, properties, isLeft }) => isLeft && type === queueType && properties["arn"] === endpoint,
      );
      return queue === undefined
        ? null
        : `${wordOf(queue.properties["name"])} stays at AWS, and messages published for it no longer reach it`;
    },
  },
});
