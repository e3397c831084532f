import type { MessageState } from "./semantics.ts";
import { patternOf } from "./unknown-message.ts";

export function describeState(state: Pick<MessageState, "place" | "routingKeys" | "lastDeath">): string {
  const { place } = state;
  const [key = ""] = state.routingKeys;
  const pattern = patternOf(key);
  const keyText = pattern === null ? `key ${JSON.stringify(key)}` : `any key like ${JSON.stringify(pattern)}`;
  switch (place.kind) {
    case "queue":
      return `${place.status === "retained" ? `kept for ever (${place.cause})` : place.status} in ${place.queue}, ${keyText}${state.lastDeath === null ? "" : `, last died of ${state.lastDeath.reason}`}`;
    case "acked":
      return `acknowledged in ${place.queue}`;
    case "lost":
      return `lost${place.queue === null ? "" : ` after ${place.queue}`}: ${place.cause}`;
    case "refused":
      return `refused by ${place.queue}`;
    default:
      return place satisfies never;
  }
}
