/** A consumer to be proved or simulated. Its shape and its model are made only when they are asked for. */
export interface Subject<State> {
  readonly consumer: string;
  /** Two consumers with the same shape have the same verdict, but for names. */
  readonly shape: () => string;
  readonly model: () => Model<State>;
}

/**
 * What a broker tells the explorer about one consumer: the states that one message can be in, and what can happen next.
 * The explorer knows nothing else of any broker.
 */
export interface Model<State> {
  readonly consumer: string;
  /** Where a message can start: one entry per declared routing key, with the states of all of its copies for this consumer. */
  readonly starts: readonly { readonly key: string; readonly states: readonly State[] }[];
  /** What is wrong before any message moves, each in half a sentence; nothing where it is left out. */
  readonly flaws?: readonly string[];
  /** Two states with the same key behave the same for ever. Finitely many keys exist. */
  readonly keyOf: (state: State) => string;
  /** The queue that the copy is in; null where it is in none any more. */
  readonly placeOf: (state: State) => string | null;
  readonly situationOf: (state: State) => Situation;
  readonly movesOf: (state: State) => readonly Move<State>[];
  /** A state in a few words, for a trace. */
  readonly describe: (state: State) => string;
  /** What the declaration asks for. */
  readonly wanted: Wanted;
}

/** Where a message is, as far as the promises go. */
export type Situation =
  /** In the work queue, or with the handler; `attempt` is the number the handler sees. */
  | { readonly kind: "work"; readonly attempt: number }
  | { readonly kind: "handling"; readonly attempt: number }
  | { readonly kind: "waiting" }
  | { readonly kind: "done" }
  | { readonly kind: "dead" }
  /** Gone, or kept where nobody can get at it. */
  | { readonly kind: "lost"; readonly why: string }
  /** In a queue that belongs to another consumer. */
  | { readonly kind: "astray"; readonly consumer: string };

/** What makes a message move: the consumer's behaviour, or time alone. */
export type Cause =
  | "success"
  | "transient"
  /** A transient failure whose handler says itself how long to wait. */
  | "retry-after"
  | "permanent"
  | "crash"
  | "return"
  | "delivery"
  | "time"
  | Mistake;

/** The usual ways of breaking a contract; to hold a message for longer than the broker allows is one. */
export type Mistake = "nack-requeue" | "reject" | "timeout";

export interface Move<State> {
  readonly cause: Cause;
  readonly label: string;
  /** How long the message waited for this move, at least and at most (infinite where nothing bounds it); 0 where it need not wait. */
  readonly waitedMs: number;
  readonly waitedLatestMs: number;
  /** Every way in which the move can end, each with the states of all copies that exist then. */
  readonly outcomes: readonly (readonly State[])[];
}

export interface Wanted {
  readonly attempts: readonly { readonly attempt: number; readonly delayMs: number; readonly delayLatestMs?: number }[];
  readonly crashDeliveries: number;
  readonly maxDeliveries: number;
  /** Whether handing a message back may cost what a crash costs: part of the crash budget, or an attempt where these are one. */
  readonly returnsCost: boolean;
  /** Jitter need not tell waits apart that are less than this from each other. */
  readonly waitGrainMs: number;
}
