import type { OutcomeName } from "../../contract/contract.ts";

/** An event for a log. It holds nothing from the body of a message. */
export type ConsumeEvent =
  | { readonly kind: "reconnected" | "resumed" | "stopping" | "stopped" }
  /** The consumer takes messages by this contract. During a change, instances with another one may be at work. */
  | {
      readonly kind: "started";
      /** The strategy of the target, or the one that `auto` chose. */
      readonly strategy: string;
      /** Null if the instance has a queue of its own. */
      readonly workQueue: string | null;
      /** The most attempts of a message. */
      readonly attempts: number;
    }
  /** A deployed resource could not be compared with the compiled one. */
  | {
      readonly kind: "not-compared";
      /** The resource that could not be compared. */
      readonly what: string;
      /** The reason, such as a missing permission. */
      readonly because: string;
    }
  /** The broker has another version than the target, and the compiled system is the same for both. */
  | {
      readonly kind: "other-version";
      /** The version in the target. */
      readonly target: string;
      /** The version of the broker. */
      readonly found: string;
    }
  /** An attempt has ended, and its message is settled. */
  | {
      readonly kind: "settled";
      /** The end that the consumer settled the message for. */
      readonly outcome: OutcomeName;
      readonly messageId: string | null;
      readonly attempt: number;
      /** The time that the handler took. */
      readonly durationMs: number;
      /** Null for a success. */
      readonly reason: string | null;
      /** The handler's error, as it was thrown. */
      readonly error: unknown;
      /** True if no attempt follows: the message is handled, or it is dead. */
      readonly isLast: boolean;
      /** The redrive that sent the message again, and the digest of the letter in it. Null if none did. */
      readonly redriven: { readonly redrive: string; readonly letter: string } | null;
    }
  /** The handler asked for a delay, and the contract has none that long, or none at all. */
  | {
      readonly kind: "delay-not-kept";
      readonly messageId: string | null;
      /** The delay that the handler asked for. */
      readonly askedMs: number;
      /** The longest delay that the contract has. Null if it has none. */
      readonly longestMs: number | null;
    }
  /** The broker did not accept an operation. The consumer tries it again. */
  | {
      readonly kind: "settle-failed";
      readonly messageId: string | null;
      readonly attempt: number;
      readonly error: unknown;
    }
  /**
   * The message is no longer ours, or its settlement has no answer. The broker delivers it again unless it is settled.
   */
  | { readonly kind: "settle-dropped"; readonly messageId: string | null; readonly attempt: number }
  /** The consumer returned a message whose handler did not begin or did not end in time. */
  | {
      readonly kind: "returned";
      readonly messageId: string | null;
      readonly attempt: number;
      /** True if the handler had begun. */
      readonly unfinished: boolean;
    }
  /** `renew-failed`: the credentials of a connection could not be renewed. The connection goes on until they expire. */
  | {
      readonly kind: "lost" | "reconnect-failed" | "renew-failed";
      readonly error: unknown;
      /** The wait before the consumer tries again. */
      readonly nextTryMs: number;
    }
  /**
   * The broker is short of memory or disk, and accepts no copies until `unblocked`. Failed messages wait in hand, and
   * successful ones are settled.
   */
  | { readonly kind: "blocked"; readonly reason: string }
  | { readonly kind: "unblocked" }
  /**
   * The evidence for an outage has reached its limit, so the consumer pauses. `failures`: the transient ones since the
   * evidence was last at zero.
   */
  | {
      readonly kind: "paused";
      readonly failures: number;
      /** The length of the pause. */
      readonly forMs: number;
    }
  /** The consumer tries messages one at a time. */
  | { readonly kind: "probing" };
