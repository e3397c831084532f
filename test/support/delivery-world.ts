import { createDeliveryTimes, type DeliveryTimes } from "../../src/brokers/rabbitmq/run/amqp-1-0/delivery-time.ts";
import type { Draw } from "./bad-inputs/draw.ts";

/** A clock that jumps: from each time on, the true time plus the offset. The first entry begins at 0. */
export type Jumps = readonly { readonly fromMs: number; readonly offsetMs: number }[];

/** One retry, in true time. */
export interface Retry {
  /** Negative if it came too early. */
  readonly lateMs: number;
  /** How often a consumer sent it back, because it came too early. */
  readonly sentBack: number;
}

function offsetAt(jumps: Jumps, atMs: number): number {
  return jumps.findLast(({ fromMs }) => fromMs <= atMs)?.offsetMs ?? 0;
}

/** The first time, not before another one, at which a clock of whole milliseconds shows this. */
function reaches(jumps: Jumps, timeMs: number, notBeforeMs: number): number {
  const starts = [notBeforeMs, ...jumps.map(({ fromMs }) => fromMs).filter((fromMs) => fromMs > notBeforeMs)];
  const reached = starts.flatMap((startMs, index) => {
    const atMs = Math.max(startMs, timeMs - offsetAt(jumps, startMs));
    return atMs < (starts[index + 1] ?? Infinity) ? [atMs] : [];
  });
  return Math.min(...reached);
}

/**
 * A quorum queue with one message, whose consumers are processes with clocks of their own. Each failure waits out its
 * delay, and any process gets the retry.
 */
export function playRetries(world: {
  readonly broker: Jumps;
  readonly wall: Jumps;
  readonly processes: number;
  readonly delaysMs: readonly number[];
  readonly latencyMs: number;
  readonly draw: Draw;
}): readonly Retry[] {
  const { broker, wall, latencyMs, draw } = world;
  let nowMs = 0.3;
  const epochMs = 1_800_000_000_000;
  const processes: readonly DeliveryTimes[] = Array.from({ length: world.processes }, (_, index) =>
    createDeliveryTimes({
      monotonicMs: () => nowMs + 1_000 * index,
      wallMs: () => Math.floor(epochMs + nowMs + offsetAt(wall, nowMs)),
      self: `p${index}`,
    }),
  );
  const someone = (): DeliveryTimes => draw.of(processes);
  return world.delaysMs.map((delayMs) => {
    const failedAtMs = nowMs;
    let annotations = someone().after(delayMs);
    for (let sentBack = 0; ; sentBack++) {
      const settledAtMs = nowMs + latencyMs * (draw.below(1_000) / 1_000);
      const releasedAtMs = reaches(broker, annotations["x-opt-delivery-time"] - epochMs, settledAtMs);
      nowMs = releasedAtMs + latencyMs * (draw.below(1_000) / 1_000);
      const taker = someone();
      const restMs = taker.restMs(annotations);
      if (restMs === 0) return { lateMs: nowMs - failedAtMs - delayMs, sentBack };
      annotations = taker.after(restMs);
    }
  });
}
