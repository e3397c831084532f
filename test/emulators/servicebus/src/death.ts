import type { DeadLetterReason, MessageState, ServicebusEvent } from "./redeliver.ts";
import type { Settlement } from "./settlement.ts";

type Record = Readonly<{ [property: string]: unknown }>;

const descriptions: Readonly<{ [reason in Exclude<DeadLetterReason, "by-consumer">]: string }> = {
  MaxDeliveryCountExceeded: "The message was delivered as often as the entity allows, and was not settled.",
  TTLExpiredException: "The message expired and was dead lettered.",
  MaxTransferHopCountExceeded: "The message was forwarded as often as is allowed.",
  "Session ID is null.": "An entity with sessions does not take a message without a session id.",
  "forward-failed": "The message could not be forwarded.",
};

/**
 * The broker's record on a dead letter that it made by itself. Source: "Overview of Service Bus dead-letter queues".
 */
export function recordOf(reason: DeadLetterReason | null): Record {
  if (reason === null || reason === "by-consumer") return {};
  return { DeadLetterReason: reason, DeadLetterErrorDescription: descriptions[reason] };
}

/** The application properties that a settlement adds to a message. */
export function propertiesOf(settlement: Settlement): Record {
  switch (settlement.kind) {
    case "complete":
    case "release":
      return {};
    case "abandon":
    case "defer":
      return settlement.properties;
    case "dead-letter": {
      const { reason, description, properties } = settlement;
      return {
        ...properties,
        ...(reason === null ? {} : { DeadLetterReason: reason }),
        ...(description === null ? {} : { DeadLetterErrorDescription: description }),
      };
    }
  }
}

/** True if an event makes a message leave its place as a dead letter. */
export function isDeath(event: ServicebusEvent, { place }: MessageState): boolean {
  switch (event.kind) {
    case "abandon":
    case "release":
    case "lock-expires":
    case "dead-letter":
    case "defer":
    case "expire":
    case "receive-deferred":
      return true;
    case "forward":
      return place.kind === "entity" && place.deadLetter !== null;
    default:
      return false;
  }
}

/**
 * The broker's record on a message that dies by an event, in its own dead-letter queue or a forwarded one; null for
 * none.
 */
export function deathOf(event: ServicebusEvent, isExpired: boolean, next: MessageState | undefined): Record | null {
  if (next?.place.kind === "entity" && next.place.deadLetter !== null) return recordOf(next.place.deadLetter);
  switch (event.kind) {
    case "expire":
      return recordOf("TTLExpiredException");
    case "abandon":
    case "release":
    case "lock-expires":
    case "defer":
    case "receive-deferred":
      return recordOf(isExpired ? "TTLExpiredException" : "MaxDeliveryCountExceeded");
    default:
      return null;
  }
}
