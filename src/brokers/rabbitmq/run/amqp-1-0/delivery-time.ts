/** The annotation from which a quorum queue takes the time of the next delivery, by the clock of its leader. */
const timeName = "x-opt-delivery-time";

/** The annotation that tells the next consumer how long the message has to wait, and since when. */
const waitName = "x-opt-redeliver-wait";

/** A consumer that is behind waits this much longer than measured, since a retry arrives after its release. */
const marginMs = 5;

/** A consumer that is ahead may be this much late. It then has this time to take a retry, before that seems early. */
const patienceMs = 100;

/** Of each such period the best measurement counts. It needs some: a message that comes again shows an old time. */
const period = { lengthMs: 10_000, measurements: 10 };

export interface Clocks {
  /** Never jumps, and means nothing to another process. */
  readonly monotonicMs: () => number;
  /** In whole milliseconds, rounded down. It may be wrong, and it may jump. */
  readonly wallMs: () => number;
  /** Tells this process from all others. Has no spaces. */
  readonly self: string;
}

/** Names times of delivery, and recognises retries that come too early. */
export type DeliveryTimes = ReturnType<typeof createDeliveryTimes>;

/**
 * A quorum queue takes only an absolute time, and compares it with its leader's clock. Over AMQP 1.0 the broker never
 * tells its time. But a retry proves that the broker's clock has reached the time that the retry was given. So each
 * retry measures how far that clock is ahead of the consumer's, at least.
 *
 * A retry that comes too early goes back with a later time. The consumer judges its own retries by its monotonic clock,
 * and those of other processes by the wall clock. So the broker's clock may be wrong, and may change with the leader.
 * Source: RabbitMQ 4.3.6, `rabbit_fifo:should_delay` and `rabbit_fifo:take_next_delayed`.
 */
export function createDeliveryTimes({ monotonicMs, wallMs, self }: Clocks) {
  /** The best measurements of the broker's clock minus the monotonic one, in the last period and in this one. */
  let beforeMs: number | null = null;
  let now = { bestMs: -Infinity, count: 0, sinceMs: monotonicMs() };
  /** A time that had passed already shows too little. So this doubles while such retries come back. */
  let stepMs = 0;
  const measure = (offsetMs: number): void => {
    if (now.count >= period.measurements && monotonicMs() - now.sinceMs > period.lengthMs) {
      beforeMs = now.bestMs;
      now = { bestMs: -Infinity, count: 0, sinceMs: monotonicMs() };
    }
    now = { ...now, bestMs: Math.max(now.bestMs, offsetMs), count: now.count + 1 };
  };
  /** Rounded up, as the time that it stands for. */
  const wallNowMs = (): number => wallMs() + 1;
  /** The time to add to the wall clock. Negative if the wall clock is ahead of the broker's. */
  const leadMs = (): number => {
    const wallOffsetMs = wallNowMs() - monotonicMs();
    const leastMs = Math.max(beforeMs ?? wallOffsetMs, now.bestMs) - wallOffsetMs;
    return leastMs > 0 ? leastMs + marginMs + stepMs : Math.min(0, leastMs + patienceMs + stepMs);
  };
  return {
    /** The annotations of an outcome that delays a message. */
    after: (delayMs: number) => ({
      // Without a delay no rounding is needed, and a time that has passed spares the queue its timer.
      [timeName]: Math.ceil((delayMs === 0 ? wallMs() : wallNowMs() + delayMs) + leadMs()),
      [waitName]: [self, Math.ceil(monotonicMs()), wallNowMs(), Math.ceil(delayMs)].join(" "),
    }),
    /** Learns from the annotations of a retry. @returns the rest of its delay; 0 if it is due */
    restMs: ({ [timeName]: time, [waitName]: wait }: Readonly<Record<string, unknown>>) => {
      const { writer, sinceMs, sinceByWallMs, delayMs } = read(wait);
      if (typeof time !== "number" || !Number.isFinite(sinceMs + sinceByWallMs + delayMs)) return 0;
      const passedMs = writer === self ? monotonicMs() - sinceMs : wallMs() - sinceByWallMs;
      const restMs = Math.min(delayMs, Math.max(0, delayMs - passedMs));
      const isNews = time > wallNowMs() + leadMs();
      if (restMs === 0 || passedMs > patienceMs) stepMs = 0;
      else if (isNews) stepMs = Math.max(2 * stepMs, restMs);
      measure(time - monotonicMs());
      return restMs;
    },
  };
}

/** Another program's annotation gives numbers that are none. */
function read(wait: unknown) {
  const [writer = "", since, sinceByWall, delay] = typeof wait === "string" ? wait.split(" ") : [];
  return { writer, sinceMs: Number(since), sinceByWallMs: Number(sinceByWall), delayMs: Number(delay) };
}
