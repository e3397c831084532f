import type { MessageState } from "../../../src/brokers/servicebus/prove/semantics.ts";

/** The place of a message, in words for a test. */
export function inWords({ place, deliveryCount, hops }: MessageState): string {
  switch (place.kind) {
    case "entity": {
      const where = place.deadLetter === null ? place.entity : `the dead letters of ${place.entity}`;
      const why = place.deadLetter === null ? "" : ` (${place.deadLetter})`;
      return `${place.status} in ${where}${why}, ${deliveryCount}${hops === 0 ? "" : `, forwarded ${hops}`}`;
    }
    case "completed":
      return "completed";
    case "lost":
      return `lost: ${place.cause}`;
    case "refused":
      return `refused: ${place.error}`;
    default:
      return place satisfies never;
  }
}
