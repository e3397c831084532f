import type { LossCause, MessageState, Visibility } from "./semantics.ts";

/** The reasons for which SQS loses a message. */
export const lossWords: Readonly<Record<LossCause, string>> = {
  "no-subscription": "no subscription of the topic takes it",
  undeliverable: "the topic can neither deliver it nor put it into a dead-letter queue",
  retention: "SQS deletes it at the end of its retention",
  "missing-dead-queue": "the dead-letter queue does not exist",
  "redrive-not-allowed": "the dead-letter queue does not let this queue move messages there",
  "queue-type-mismatch": "the dead-letter queue is of the other type, standard or FIFO",
};

/** Names the place of a copy and its number of receives, for a trace. */
export function describeState({ place, receiveCount }: Pick<MessageState, "place" | "receiveCount">): string {
  const received = receiveCount === 0 ? "" : `, received ${receiveCount === 1 ? "once" : `${receiveCount} times`}`;
  switch (place.kind) {
    case "queue":
      switch (place.status) {
        case "delayed":
          return `delayed in ${place.queue}${received}`;
        case "visible":
          return `visible in ${place.queue}${received}`;
        case "in-flight":
          return `hidden in ${place.queue} for ${describeVisibility(place.visibility)}${received}`;
        default:
          return place satisfies never;
      }
    case "deleted":
      return `deleted from ${place.queue}`;
    case "lost":
      return `lost${place.queue === null ? "" : ` at ${place.queue}`}: ${lossWords[place.cause]}`;
    case "refused":
      return `refused by ${place.by}: ${place.error}`;
    default:
      return place satisfies never;
  }
}

function describeVisibility({ fromSeconds, toSeconds, since }: Visibility): string {
  const seconds = fromSeconds === toSeconds ? `${toSeconds} s` : `${fromSeconds} to ${toSeconds} s`;
  return since === "receive" ? `${seconds} from its receive` : seconds;
}
