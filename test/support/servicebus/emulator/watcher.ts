import type { Message } from "rhea";

import type { Refusal, Settlement } from "./settlement.ts";

interface AboutMessage {
  readonly path: string;
  readonly sequenceNumber: number;
  readonly content: Message;
}

/** What clients did, in the order in which the emulator did it. */
export type Heard =
  | (AboutMessage & { readonly kind: "delivered"; readonly deliveryCount: number })
  | (AboutMessage & { readonly kind: "settled"; readonly settlement: Settlement })
  /** Received and deleted in one. */
  | (AboutMessage & { readonly kind: "deleted" })
  | { readonly kind: "sent"; readonly path: string; readonly content: Message; readonly dueAtMs: number | null }
  /** Whoever sent or scheduled messages is told that they are there. */
  | { readonly kind: "answered"; readonly messageIds: readonly string[] };

/** What a test sees of a namespace, and where it gets in the way. */
export interface Watcher {
  readonly heard?: (heard: Heard) => void;
  /** Why a message is not taken; null to take it. */
  readonly refuse?: (path: string, sent: Message) => Refusal | null;
  /** Resolves when whoever schedules messages may be told that they are there. */
  readonly mayAnswer?: () => Promise<void>;
  /** Resolves when a receiver that wants nothing more may be told that nothing more comes. */
  readonly mayDrain?: () => Promise<void>;
  /**
   * What becomes of what a receiver says about a message, while its connection lives: it is done and answered; done, and the answer is lost; or it is
   * lost itself.
   */
  readonly fateOf?: (settlement: Settlement) => "answered" | "unanswered" | "lost";
}
