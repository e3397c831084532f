import type { Message } from "rhea";

import type { Refusal, Settlement } from "./settlement.ts";

interface AboutMessage {
  readonly path: string;
  readonly sequenceNumber: number;
  readonly content: Message;
}

/** The actions of clients, in the emulator's order. */
export type Heard =
  | (AboutMessage & { readonly kind: "delivered"; readonly deliveryCount: number })
  | (AboutMessage & { readonly kind: "settled"; readonly settlement: Settlement })
  /** Received with receive-and-delete. */
  | (AboutMessage & { readonly kind: "deleted" })
  | { readonly kind: "sent"; readonly path: string; readonly content: Message; readonly dueAtMs: number | null }
  /** The sender learns that its messages have arrived. */
  | { readonly kind: "answered"; readonly messageIds: readonly string[] };

/** Lets a test watch a namespace and interfere with it. */
export interface Watcher {
  readonly heard?: (heard: Heard) => void;
  /** The reason to refuse a message; null to accept it. */
  readonly refuse?: (path: string, sent: Message) => Refusal | null;
  /** Resolves when the sender of scheduled messages may learn that they have arrived. */
  readonly mayAnswer?: () => Promise<void>;
  /** Resolves when a receiver that wants no more may learn that no more messages come. */
  readonly mayDrain?: () => Promise<void>;
  /**
   * The fate of a receiver's answer about a message, while its connection lives. It is carried out and confirmed, or
   * carried out with a lost confirmation, or lost itself.
   */
  readonly fateOf?: (settlement: Settlement) => "answered" | "unanswered" | "lost";
}
