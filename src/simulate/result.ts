import type { KeptCause } from "../explore/model.ts";

/**
 * The result of a simulation. Times are milliseconds since its start, with a resolution of a microsecond. The same
 * consumers, scenario and seed give the same bytes.
 */
export interface SimulationResult {
  readonly seed: number;
  /** The time that messages arrived, and the time of the last event. */
  readonly durationMs: number;
  readonly endedAtMs: number;
  /** True if every message has ended; if not, the drain was too short for the rest. */
  readonly isSettled: boolean;
  /** The number of all events: publications, deliveries, outcomes, ended waits, restarts, changes of phase. */
  readonly events: number;
  readonly consumers: readonly ConsumerResult[];
  /** The length of each stretch in the depths of a queue. */
  readonly stretchMs: number;
  readonly queues: readonly QueueDepth[];
  /** The first message with the most deliveries; null without any delivery. */
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
  /** Messages that have not ended when the run ends. */
  readonly left: { readonly inWorkQueue: number; readonly withHandlers: number; readonly waiting: number };
  readonly deliveries: number;
  /** The number of handler runs, by their end. */
  readonly runs: number;
  readonly outcomes: Readonly<Record<Exclude<KeptCause, "delivery" | "time">, number>>;
  /** The number of crashes of an instance. */
  readonly crashes: number;
  /** The number of messages that ended after this many deliveries, and after this many handler runs. */
  readonly messagesByDeliveries: readonly CountOf[];
  readonly messagesByRuns: readonly CountOf[];
  /** Counted from the publication. */
  readonly timeToSuccess: Percentiles | null;
  readonly timeToDeadLetter: Percentiles | null;
  /** The share of their time that handlers were busy, from 0 to 1, while messages arrived. */
  readonly utilisation: number;
  readonly storm: RetryStorm | null;
}

export interface DeadLettered {
  readonly total: number;
  /** The attempts and causes that the message died after. */
  readonly byAttempt: readonly CountOf[];
  readonly byCause: readonly { readonly cause: KeptCause; readonly messages: number }[];
}

/** The number of messages with this value of the counted thing. */
export interface CountOf {
  readonly number: number;
  readonly messages: number;
}

export interface Percentiles {
  /** True if they cover all values; otherwise they cover an even sample of a million. */
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

/** The number of messages in a queue, including delivered and unacknowledged ones. */
export interface QueueDepth {
  readonly queue: string;
  readonly most: number;
  readonly mostAtMs: number;
  readonly atEnd: number;
  readonly mostPerStretch: readonly number[];
}

/** The events of one message. */
export interface Timeline {
  readonly consumer: string;
  /** The number of the message within the consumer, from 0 on. */
  readonly message: number;
  readonly steps: readonly TimelineStep[];
}

export interface TimelineStep {
  readonly message: number;
  readonly consumer: string;
  readonly atMs: number;
  readonly happened: "published" | "begun" | KeptCause;
  /** The queue that holds the message afterwards; null for none. */
  readonly queue: string | null;
  /** The attempt that begins or ends here, else null. */
  readonly attempt: number | null;
}
