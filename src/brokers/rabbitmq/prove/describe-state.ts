import type { MessageState } from "./semantics.ts";
import type { LossCause, RetentionCause } from "./semantics/message-state.ts";
import { patternOf } from "./unknown-message.ts";

/** The reasons for which the broker loses a message, or keeps it where nobody sees it. */
export const lossWords: Readonly<Record<LossCause | RetentionCause, string>> = {
  "no-dead-letter-exchange": "the queue that it dies in has no dead-letter exchange",
  "missing-exchange": "the exchange does not exist",
  "no-route": "the exchange has no route for it",
  cycle: "it comes back to a queue that it has died in",
  "target-full": "the next queue may be full, and does not take it then",
  "no-confirm": "its queue waits for no confirm, so a fault on the way can lose it",
  "queue-expired": "the broker deletes the unused queue with it",
  "queue-deleted": "the broker deletes the queue with it",
  unconfirmed: "no queue confirms it",
};

export function describeState(state: Pick<MessageState, "place" | "routingKeys" | "lastDeath">): string {
  const { place } = state;
  const [key = ""] = state.routingKeys;
  const pattern = patternOf(key);
  const keyText = pattern === null ? `key ${JSON.stringify(key)}` : `any key like ${JSON.stringify(pattern)}`;
  switch (place.kind) {
    case "queue":
      return `${place.status === "retained" ? `kept for ever (${lossWords[place.cause]})` : place.status} in ${place.queue}, ${keyText}${state.lastDeath === null ? "" : `, last died of ${state.lastDeath.reason}`}`;
    case "acked":
      return `acknowledged in ${place.queue}`;
    case "lost":
      return `lost${place.queue === null ? "" : ` after ${place.queue}`}: ${lossWords[place.cause]}`;
    case "refused":
      return `refused by ${place.queue}`;
    default:
      return place satisfies never;
  }
}
