import type { OutcomeName } from "../brokers/contract.ts";

/** Something that happened, for a log. Nothing in it comes from the body of a message. */
export type ConsumeEvent =
  | { readonly kind: "started" | "reconnected" | "resumed" | "stopping" | "stopped" }
  /** Something of what is deployed could not be compared with what was compiled. */
  | { readonly kind: "not-compared"; readonly what: string; readonly because: string }
  /** The broker is of another version than the target, and what is compiled for it is the same there. */
  | { readonly kind: "other-version"; readonly target: string; readonly found: string }
  /** An attempt has ended, and its message is settled. */
  | {
      readonly kind: "settled";
      readonly outcome: OutcomeName;
      readonly messageId: string | null;
      readonly attempt: number;
      readonly durationMs: number;
      /** Null for a success. */
      readonly reason: string | null;
      readonly error: unknown;
    }
  /** The handler asked for a delay, and the contract has none so long, or none at all. */
  | {
      readonly kind: "delay-not-kept";
      readonly messageId: string | null;
      readonly askedMs: number;
      readonly longestMs: number | null;
    }
  /** The broker did not take an operation; it is tried again. */
  | {
      readonly kind: "settle-failed";
      readonly messageId: string | null;
      readonly attempt: number;
      readonly error: unknown;
    }
  /** The message was not ours any more, or nobody said whether it is settled: the broker delivers it again unless it is. */
  | { readonly kind: "settle-dropped"; readonly messageId: string | null; readonly attempt: number }
  /** Messages whose handlers did not begin, or did not end in time, went back. */
  | {
      readonly kind: "returned";
      readonly messageId: string | null;
      readonly attempt: number;
      readonly unfinished: boolean;
    }
  /** `renew-failed`: the credentials of a connection could not be renewed; it goes on until they expire. */
  | { readonly kind: "lost" | "reconnect-failed" | "renew-failed"; readonly error: unknown; readonly nextTryMs: number }
  /** So many transient failures came in a row that nothing is taken for a while. */
  | { readonly kind: "paused"; readonly failures: number; readonly forMs: number }
  /** One message is tried. */
  | { readonly kind: "probing" };
