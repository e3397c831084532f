import type { SimulatedCause } from "./message-graph.ts";

/**
 * What happened in a simulation. Times are milliseconds since its start, with a resolution of a microsecond. The same
 * consumers, scenario and seed give the same bytes.
 */
export interface SimulationResult {
  readonly seed: number;
  /** Messages arrived for so long, and the last thing happened then. */
  readonly durationMs: number;
  readonly endedAtMs: number;
  /** Whether every message is at its end; if not, the drain was too short for the rest. */
  readonly isSettled: boolean;
  /** Everything that happened, one by one: publications, deliveries, outcomes, waits that ended, restarts, changes of phase. */
  readonly events: number;
  readonly consumers: readonly ConsumerResult[];
  /** How long each of the stretches is that a queue's depth is told for. */
  readonly stretchMs: number;
  readonly queues: readonly QueueDepth[];
  /** The message with the most deliveries, the first of them; null where nothing was delivered. */
  readonly timeline: Timeline | null;
}

export interface ConsumerResult {
  readonly consumer: string;
  readonly published: number;
  readonly succeeded: number;
  readonly deadLettered: DeadLettered;
  /** Gone, or in another consumer's queue. The proof rules both out. */
  readonly lost: number;
  /** Further copies of the same message. */
  readonly duplicated: number;
  /** Those that are not at their end when the run is. */
  readonly left: { readonly inWorkQueue: number; readonly withHandlers: number; readonly waiting: number };
  readonly deliveries: number;
  /** How often a handler began, and how it ended. */
  readonly runs: number;
  readonly outcomes: Readonly<Record<Exclude<SimulatedCause, "delivery" | "time">, number>>;
  /** How often an instance crashed. */
  readonly crashes: number;
  /** How many messages came to their end after so many deliveries, and after so many runs of a handler. */
  readonly messagesByDeliveries: readonly CountOf[];
  readonly messagesByRuns: readonly CountOf[];
  /** From the publication. */
  readonly timeToSuccess: Percentiles | null;
  readonly timeToDeadLetter: Percentiles | null;
  /** The share of their time that handlers were busy, from 0 to 1, while messages arrived. */
  readonly utilisation: number;
  readonly storm: RetryStorm | null;
}

export interface DeadLettered {
  readonly total: number;
  /** After the handling of which attempt, and by what. */
  readonly byAttempt: readonly CountOf[];
  readonly byCause: readonly { readonly cause: SimulatedCause; readonly messages: number }[];
}

/** So many messages had this number of whatever is counted. */
export interface CountOf {
  readonly number: number;
  readonly messages: number;
}

export interface Percentiles {
  /** Whether they are of all values, or of an even sample of a million of them. */
  readonly isExact: boolean;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The stretch of time with the most redeliveries. */
export interface RetryStorm {
  readonly fromMs: number;
  readonly lengthMs: number;
  readonly redeliveries: number;
  readonly arrivals: number;
}

/** How many messages were in a queue, delivered and not acknowledged ones included. */
export interface QueueDepth {
  readonly queue: string;
  readonly most: number;
  readonly mostAtMs: number;
  readonly atEnd: number;
  readonly mostPerStretch: readonly number[];
}

/** What happened to one message. */
export interface Timeline {
  readonly consumer: string;
  /** The how manieth of the consumer's messages it is, from 0 on. */
  readonly message: number;
  readonly steps: readonly TimelineStep[];
}

export interface TimelineStep {
  readonly message: number;
  readonly consumer: string;
  readonly atMs: number;
  readonly happened: "published" | "begun" | SimulatedCause;
  /** The queue that the message is in afterwards; null for none any more. */
  readonly queue: string | null;
  /** Of the handling that begins or ends here, else null. */
  readonly attempt: number | null;
}
