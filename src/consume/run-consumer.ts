import { parseDurationMs } from "../declare/duration.ts";
import type { Duration } from "../declare/duration.ts";
import type { Adapter, Opening } from "./adapter.ts";
import { createBreaker } from "./breaker.ts";
import type { Engine, Held, Phase } from "./engine.ts";
import { report, wakeWatchers, whenever } from "./engine.ts";
import { handBack } from "./handle.ts";
import { openLink } from "./link.ts";
import { atMost } from "./long-timer.ts";
import type { Handler } from "./message.ts";
import type { Settings } from "./options.ts";

/** How a consumer is. */
export interface Health {
  /** `reconnecting` while the broker does not answer, whatever else. */
  readonly state: Phase | "reconnecting";
  /** Whether messages are being taken: what a readiness probe asks for. */
  readonly isTaking: boolean;
  /** Handlers that run, and messages that are being settled. */
  readonly handling: number;
  /** Messages that were delivered and whose handlers have not begun. */
  readonly waiting: number;
  /** Transient failures since the last success. */
  readonly failuresInARow: number;
}

/** A consumer that runs. */
export interface Running {
  readonly health: () => Health;
  /**
   * Takes no more messages, hands back those whose handlers have not begun, waits for the others, and ends the connection. What is not done by
   * then is handed back too, and its handler's signal is given. It never rejects, and a second call waits for the first.
   *
   * @param within how long to wait for handlers; the option `stopWithin` unless said otherwise
   */
  readonly stop: (within?: Duration) => Promise<void>;
}

/** What is left of the stop's time for the connection to end in an orderly way, at least. */
const closeWithinMs = 2_000;
/**
 * How long, beyond the stop's time, messages are kept that are to be handed back, until nothing more is taken: what is handed back before comes to
 * the receive of ours that still waits, and has spent another attempt. No receive waits longer.
 */
const pauseWithinMs = 6_000;

/** Connects and begins to take messages. */
export async function runConsumer(input: {
  readonly adapter: Adapter;
  readonly opening: Omit<Opening, "listener" | "concurrency" | "givenUp">;
  readonly settings: Settings;
  readonly handler: Handler;
}): Promise<Running> {
  const { adapter, opening, settings, handler } = input;
  const { format, schema, concurrency } = settings;
  const engine: Engine = {
    adapter,
    opening: { ...opening, concurrency },
    settings,
    attempts: { contract: opening.contract, handler, format, schema },
    breaker: createBreaker(settings.breaker),
    running: new Set(),
    waiting: [],
    returning: 0,
    link: { session: null, isLost: true, isSilent: false, over: new AbortController(), lose: () => undefined },
    reconnecting: Promise.resolve(),
    phase: "running",
    probe: null,
    stopping: new AbortController(),
    watchers: [],
  };
  await openLink(engine).catch((cause: unknown) => {
    throw adapter.refusal?.(opening.connection, cause) ?? cause;
  });
  report(engine, { kind: "started" });
  let stopped: Promise<void> | null = null;
  return {
    health: () => healthOf(engine),
    stop: (within) => {
      stopped ??= stop(engine, within === undefined ? settings.stopWithinMs : parseDurationMs(within));
      return stopped;
    },
  };
}

function healthOf(engine: Engine): Health {
  const { phase, link, running, waiting, breaker } = engine;
  const isOver = phase === "stopping" || phase === "stopped";
  const state = (link.isLost || link.isSilent) && !isOver ? "reconnecting" : phase;
  return {
    state,
    isTaking: state === "running" || state === "probing",
    handling: running.size,
    waiting: waiting.length,
    failuresInARow: breaker.failures(),
  };
}

async function stop(engine: Engine, withinMs: number): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  const restMs = (): number => Math.max(0, deadlineMs - performance.now());
  const isDone = (): boolean => engine.running.size === 0 && engine.returning === 0;
  engine.phase = "stopping";
  report(engine, { kind: "stopping" });
  engine.stopping.abort();
  wakeWatchers(engine);
  const { link } = engine;
  const paused = link.isLost || link.session === null ? Promise.resolve() : link.session.pause();
  await atMost(restMs(), paused);
  returnWaiting(engine);
  await atMost(restMs(), whenever(engine, isDone));
  if (!isDone()) await atMost(pauseWithinMs, paused);
  link.over.abort();
  for (const held of engine.running) abandon(engine, held);
  returnWaiting(engine);
  await atMost(closeWithinMs, whenever(engine, isDone));
  // A connection that was being made has been given up, and is gone when this is over.
  await atMost(closeWithinMs, engine.reconnecting);
  if (!link.isLost) {
    link.isLost = true;
    const limitMs = Math.max(closeWithinMs, restMs());
    if (link.session !== null) await atMost(limitMs + closeWithinMs, link.session.close(limitMs));
  }
  engine.phase = "stopped";
  report(engine, { kind: "stopped" });
}

function returnWaiting(engine: Engine): void {
  const { waiting } = engine;
  engine.waiting = [];
  for (const held of waiting) void handBack(engine, held, false);
}

/**
 * Its handler did not end in time. It was interrupted by us, and not by a failure of its own, so that costs no attempt. Where the handler has ended
 * and the broker has not answered yet, it gets no second word from us beside the first: what fails then is handed back by whoever waits for it.
 */
function abandon(engine: Engine, held: Held): void {
  if (held.isSettling) return;
  held.isAbandoned = true;
  held.signal.abort(new Error("the consumer stops"));
  engine.running.delete(held);
  void handBack(engine, held, true);
}
