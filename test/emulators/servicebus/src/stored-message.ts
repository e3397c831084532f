import { randomBytes } from "node:crypto";

import rhea, { type Message } from "rhea";

import { swapGuidOrder } from "./lock-token.ts";
import type { MessageState } from "./redeliver.ts";

/** A message in a queue, a subscription or a dead-letter queue. */
export interface StoredMessage {
  readonly sequenceNumber: number;
  /** The sent message, with the additions of dispositions. */
  content: Message;
  /** Its part of the entity's size. */
  readonly bytes: number;
  /** The state for the semantics: its place, and its number of deliveries. */
  state: MessageState;
  readonly enqueuedAtMs: number;
  /** Infinity if it does not expire. */
  readonly expiresAtMs: number;
  /** The time to enqueue a scheduled message; Infinity for one that is enqueued. */
  readonly dueAtMs: number;
  lock: Lock | null;
  /** The queue that dead-lettered it, if the dead letter was forwarded from there. */
  readonly deadLetterSource: string | null;
}

export interface Lock {
  /** The same as the tag of a delivery, in hexadecimal digits. */
  readonly token: string;
  /** Infinity if the lock of the session counts instead. */
  untilMs: number;
}

export type Status = "active" | "locked" | "scheduled" | "deferred" | "gone";

/** The status of a message in its place; `gone` once it has none. */
export function statusOf({ state: { place } }: StoredMessage): Status {
  return place.kind === "entity" ? place.status : "gone";
}

export function newLock(untilMs: number): Lock {
  return { token: swapGuidOrder(randomBytes(16)).toString("hex"), untilMs };
}

/** The message as a client receives it, with all that the broker adds. */
export function delivered(stored: StoredMessage, lockedUntilMs: number | null): Message {
  const { sequenceNumber, enqueuedAtMs, dueAtMs, deadLetterSource, state } = stored;
  // The client for Java sends an empty footer with each message. rhea would write it before the body, where it ends the
  // message.
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
