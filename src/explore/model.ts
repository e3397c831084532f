/** A consumer to prove or simulate. Its shape and its model are built only on demand. */
export interface Subject<State> {
  readonly consumer: string;
  /** Two consumers with the same shape have the same verdict, apart from names. */
  readonly shape: () => string;
  readonly model: () => Model<State>;
}

/**
 * A broker's description of one consumer: the states of one message, and the moves of each state. The explorer knows
 * nothing else about a broker.
 */
export interface Model<State> {
  readonly consumer: string;
  /** The start of a message: for each declared routing key, the states of all its copies for this consumer. */
  readonly starts: readonly { readonly key: string; readonly states: readonly State[] }[];
  /** The flaws that exist before any message moves, each in half a sentence; left out if there are none. */
  readonly flaws?: readonly string[];
  /** Two states with the same key behave the same for ever. There are finitely many keys. */
  readonly keyOf: (state: State) => string;
  /** The deliveries that the broker counts and compares with a limit; left out if the work queue has no limit. */
  readonly count?: DeliveryCount<State>;
  /** The queue that holds the copy; null if none does. */
  readonly placeOf: (state: State) => string | null;
  readonly situationOf: (state: State) => Situation;
  readonly movesOf: (state: State) => readonly Move<State>[];
  /**
   * The copy of a dead letter that is sent to the work queue itself, as a redrive sends it: without records of deaths.
   * Left out if nothing can be sent there alone.
   */
  readonly resend?: (letter: State) => readonly State[];
  /** A state in a few words, for a trace. */
  readonly describe: (state: State) => string;
  /** The demands of the declaration. */
  readonly wanted: Wanted;
}

/** A count that decides in one direction only. While it goes up, no decision changes back. */
export interface DeliveryCount<State> {
  readonly of: (state: State) => number;
  readonly with: (state: State, count: number) => State;
  /** The first count that takes the message out of the work queue. */
  readonly most: number;
  /** Lower ones that may hold at another time of a change, the lowest first. */
  readonly lower?: readonly number[];
}

/** The situation of a message, as far as the promises need it. */
export type Situation =
  /** In the work queue, or with the handler. `attempt` is the number that the handler sees. */
  | { readonly kind: "work"; readonly attempt: number }
  | { readonly kind: "handling"; readonly attempt: number }
  | { readonly kind: "waiting" }
  | { readonly kind: "done" }
  | { readonly kind: "dead" }
  /** Gone, or in a place that no consumer can read. */
  | { readonly kind: "lost"; readonly why: string }
  /** In a queue that belongs to another consumer. */
  | { readonly kind: "astray"; readonly consumer: string };

export function isEnd({ kind }: Situation): boolean {
  return kind === "done" || kind === "dead" || kind === "lost" || kind === "astray";
}

/** The causes of moves with a consumer that keeps its contract, or without a consumer. */
export const keptCauses = [
  "success",
  "transient",
  /** A transient failure with a handler that sets the delay itself. */
  "retry-after",
  "permanent",
  "crash",
  "return",
  "delivery",
  "time",
] as const;
export type KeptCause = (typeof keptCauses)[number];

/** The cause of a move: the consumer's behaviour, time alone, or the next phase of a change (see `joinPhases`). */
export type Cause = KeptCause | Mistake | "change";

/** The usual breaches of a contract. One is to hold a message for longer than the broker allows. */
export type Mistake = (typeof mistakes)[number];
const mistakes = ["nack-requeue", "reject", "timeout"] as const;

export function isMistake(cause: Cause): cause is Mistake {
  return (mistakes as readonly Cause[]).includes(cause);
}

export interface Move<State> {
  readonly cause: Cause;
  readonly label: string;
  /** The shortest and the longest wait of the message for this move, infinite if unbounded; 0 without a wait. */
  readonly waitedMs: number;
  readonly waitedLatestMs: number;
  /** The possible ends of the move, each with the states of all the copies that then exist. */
  readonly outcomes: readonly (readonly State[])[];
}

/** A move that nothing has to wait for. */
export function moveOf<State>(cause: Cause, label: string, outcomes: Move<State>["outcomes"]): Move<State> {
  return { cause, label, waitedMs: 0, waitedLatestMs: 0, outcomes };
}

export interface Wanted {
  readonly attempts: readonly { readonly attempt: number; readonly delayMs: number; readonly delayLatestMs?: number }[];
  readonly crashDeliveries: number;
  readonly maxDeliveries: number;
  /** True if a return may cost as much as a crash: part of the crash budget, or an attempt if these are one. */
  readonly returnsCost: boolean;
  /** Jitter need not separate waits that differ by less than this. */
  readonly waitGrainMs: number;
}
