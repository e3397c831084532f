import type { KeptCause } from "../explore/model.ts";

/**
 * The result of a simulation. Times are milliseconds since its start, with a resolution of a microsecond. The same
 * consumers, scenario and seed give the same bytes.
 */
export interface SimulationResult {
  /** The same seed and scenario give the same result. */
  readonly seed: number;
  /** The time that messages arrived, and the time of the last event. */
  readonly durationMs: number;
  /** Counted from the beginning of the run. */
  readonly endedAtMs: number;
  /** True if every message has ended; if not, the drain was too short for the rest. */
  readonly isSettled: boolean;
  /** The number of all events: publications, deliveries, outcomes, ended waits, restarts, changes of phase. */
  readonly events: number;
  /** In the order of the scenario. */
  readonly consumers: readonly ConsumerResult[];
  /** The length of each stretch in the depths of a queue. */
  readonly stretchMs: number;
  /** The depth of each queue over time. */
  readonly queues: readonly QueueDepth[];
  /** The first message with the most deliveries; null without any delivery. */
  readonly timeline: Timeline | null;
}

export interface ConsumerResult {
  /** The name in the declaration. */
  readonly consumer: string;
  /** The messages that arrived for it. */
  readonly published: number;
  /** The messages that a handler ended well. */
  readonly succeeded: number;
  /** The messages that ended in the dead queue. */
  readonly deadLettered: DeadLettered;
  /** Gone, or in another consumer's queue. The proof rules both out. */
  readonly lost: number;
  /** Further copies of the same message. */
  readonly duplicated: number;
  /** Messages that have not ended when the run ends. */
  readonly left: {
    /** Ready in the work queue. */
    readonly inWorkQueue: number;
    /** Delivered to an instance and not settled. */
    readonly withHandlers: number;
    /** On the wait for a later attempt. */
    readonly waiting: number;
  };
  /** All deliveries, those that crashed or were returned included. */
  readonly deliveries: number;
  /** The number of handler runs, by their end. */
  readonly runs: number;
  /** The number of handler runs with each end. */
  readonly outcomes: Readonly<Record<Exclude<KeptCause, "delivery" | "time">, number>>;
  /** The number of crashes of an instance. */
  readonly crashes: number;
  /** The number of messages that ended after this many deliveries, and after this many handler runs. */
  readonly messagesByDeliveries: readonly CountOf[];
  /** The number of messages that ended after this many handler runs. */
  readonly messagesByRuns: readonly CountOf[];
  /** Counted from the publication. */
  readonly timeToSuccess: Percentiles | null;
  /** Counted from the publication. Null if no message died. */
  readonly timeToDeadLetter: Percentiles | null;
  /** The share of their time that handlers were busy, from 0 to 1, while messages arrived. */
  readonly utilisation: number;
  /** The ten seconds with the most redeliveries. Null if they never outnumber the arrivals. */
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
  /** Half of the values are not above it. */
  readonly p50Ms: number;
  /** Nine of ten values are not above it. */
  readonly p90Ms: number;
  /** 99 of 100 values are not above it. */
  readonly p99Ms: number;
  /** The largest value. */
  readonly maxMs: number;
}

/** The stretch of time with the most redeliveries. */
export interface RetryStorm {
  /** Its beginning, counted from the beginning of the run. */
  readonly fromMs: number;
  /** The time that it lasts. */
  readonly lengthMs: number;
  /** The deliveries after the first of a message in this time. */
  readonly redeliveries: number;
  /** The messages that arrived in this time. */
  readonly arrivals: number;
}

/** The number of messages in a queue, including delivered and unacknowledged ones. */
export interface QueueDepth {
  /** Its name on the broker. */
  readonly queue: string;
  /** The most messages in it at one time. */
  readonly most: number;
  /** The first time at which it held the most. */
  readonly mostAtMs: number;
  /** The messages in it when the run ends. */
  readonly atEnd: number;
  /** The most messages in each stretch of `stretchMs`. */
  readonly mostPerStretch: readonly number[];
}

/** The events of one message. */
export interface Timeline {
  /** The consumer of the message. */
  readonly consumer: string;
  /** The number of the message within the consumer, from 0 on. */
  readonly message: number;
  /** In the order of time. */
  readonly steps: readonly TimelineStep[];
}

export interface TimelineStep {
  /** The number of the message within the consumer, from 0 on. */
  readonly message: number;
  /** The consumer of the message. */
  readonly consumer: string;
  /** Counted from the beginning of the run. */
  readonly atMs: number;
  /** `begun`: a handler started. The others end a handling or a wait. */
  readonly happened: "published" | "begun" | KeptCause;
  /** The queue that holds the message afterwards; null for none. */
  readonly queue: string | null;
  /** The attempt that begins or ends here, else null. */
  readonly attempt: number | null;
}
