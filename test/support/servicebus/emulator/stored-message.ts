import { randomBytes } from "node:crypto";

import rhea, { type Message } from "rhea";

import type { MessageState } from "../../../../src/brokers/servicebus/semantics/message-state.ts";
import { swapGuidOrder } from "./lock-token.ts";

/** A message in a queue, a subscription or a dead-letter queue. */
export interface StoredMessage {
  readonly sequenceNumber: number;
  /** As it was sent, with what dispositions have added to it. */
  content: Message;
  /** What the semantics knows of it: where it is, how often it was delivered. */
  state: MessageState;
  readonly enqueuedAtMs: number;
  /** Infinity where it does not expire. */
  readonly expiresAtMs: number;
  /** When a scheduled message is to be enqueued; Infinity for one that is. */
  readonly dueAtMs: number;
  lock: Lock | null;
  /** The queue that dead-lettered it, once it was forwarded from there. */
  readonly deadLetterSource: string | null;
}

export interface Lock {
  /** As the tag of a delivery, in hexadecimal digits. */
  readonly token: string;
  /** Infinity where the lock of the session counts instead. */
  untilMs: number;
}

export type Status = "active" | "locked" | "scheduled" | "deferred" | "gone";

/** What a message does in its place; `gone` once it is in none. */
export function statusOf({ state: { place } }: StoredMessage): Status {
  return place.kind === "entity" ? place.status : "gone";
}

export function newLock(untilMs: number): Lock {
  return { token: swapGuidOrder(randomBytes(16)).toString("hex"), untilMs };
}

/** What a client gets: the message with all that the broker adds. */
export function delivered(stored: StoredMessage, lockedUntilMs: number | null): Message {
  const { sequenceNumber, enqueuedAtMs, dueAtMs, deadLetterSource, state } = stored;
  // rhea would write a footer before the body, where it ends the message; the client for Java sends an empty one with each.
  const { footer: _, ...content } = stored.content;
  const { wrap_int, wrap_long, wrap_timestamp } = rhea.types;
  const isScheduled = statusOf(stored) === "scheduled";
  const shownState = isScheduled ? 2 : statusOf(stored) === "deferred" ? 1 : 0;
  const message_annotations = {
    ...content.message_annotations,
    "x-opt-sequence-number": wrap_long(sequenceNumber),
    "x-opt-enqueue-sequence-number": wrap_long(sequenceNumber),
    "x-opt-enqueued-time": wrap_timestamp(isScheduled ? dueAtMs : enqueuedAtMs),
    "x-opt-message-state": wrap_int(shownState),
    ...(isScheduled ? { "x-opt-scheduled-enqueue-time": wrap_timestamp(dueAtMs) } : {}),
    ...(lockedUntilMs === null ? {} : { "x-opt-locked-until": wrap_timestamp(lockedUntilMs) }),
    ...(deadLetterSource === null ? {} : { "x-opt-deadletter-source": deadLetterSource }),
  };
  return { ...content, delivery_count: state.deliveryCount, message_annotations } as Message;
}
