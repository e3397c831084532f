import { type Duration, parseDurationMs } from "../declare/duration.ts";
import type { Adapter, Opening } from "./port/adapter.ts";
import { createBreaker } from "./breaker.ts";
import type { Engine, Held, Phase } from "./engine.ts";
import { freeHandlers, pauseFeed, report, wakeWatchers, whenever } from "./engine.ts";
import { dropped, handBack } from "./handle.ts";
import { newFeed, openFeed } from "./feed.ts";
import { atMost } from "./port/long-timer.ts";
import type { Handler } from "./message.ts";
import type { Settings } from "./options.ts";

/** The condition of a consumer. */
export interface Health {
  /**
   * `reconnecting` while the broker does not answer, in any phase. `blocked` while it answers but accepts no copies.
   * Successful messages are then settled and failed ones wait in hand, so the consumer stops taking when all in hand
   * have failed.
   */
  readonly state: Phase | "reconnecting" | "blocked";
  /** True while the consumer takes messages: use it for a readiness probe. */
  readonly isTaking: boolean;
  /**
   * The messages that RabbitMQ keeps in the consumer's queues because it cannot dead-letter them: the next queue is
   * gone, or accepts none. The consumer reads it twice a minute through the `managementUrl`. Null without one, and on
   * other brokers.
   */
  readonly keptDeadLetters: number | null;
  /** Running handlers and messages that are being settled. */
  readonly handling: number;
  /** Delivered messages whose handlers have not begun. */
  readonly waiting: number;
  /**
   * The milliseconds since the broker was last heard. While it is there, this is hardly more than a heartbeat or a
   * receive takes. Null on Service Bus, whose client does not report it, and on RabbitMQ without heartbeats.
   */
  readonly answeredMsAgo: number | null;
  /** The evidence for an outage of something that the handlers need, from 0 to 1. At 1 the consumer pauses. */
  readonly suspicion: number;
}

/** A running consumer. */
export interface Running {
  /** The state at this moment. It asks no broker, so a probe may call it often. */
  readonly health: () => Health;
  /**
   * Takes no more messages and returns those whose handlers have not begun. Then it waits for the others and ends the
   * connection. When the time is over, it aborts the handlers' signals and returns their messages, too. It never
   * rejects, and a second call waits for the first.
   *
   * @param within the time limit for all of this, at least one second. The default is the option `stopWithin`
   */
  readonly stop: (within?: Duration) => Promise<void>;
}

/** A stop keeps a quarter of its time, and at most this, for returning messages and ending the connection. */
const lastWordsMs = 2_000;
/**
 * A shorter stop does not wait for handlers, and returns their messages within this time. On SQS it returns them when
 * its last receive has ended.
 */
const shortestMs = 1_000;
/** Of this time the end of the connection gets this much, and so does the return of messages before it. */
const closeMs = 300;
/**
 * The time that a broker has to confirm that no more messages come. A message returned before that may come to us once
 * more, and spends another attempt. No receive of SQS waits longer.
 */
const pauseWithinMs = 6_000;
/** The same limit when no message is in hand, and for ending a connection without pending settlements. */
const idleWithinMs = 1_000;

/** Connects and begins to take messages. */
export async function runConsumer(input: {
  readonly adapter: Adapter;
  readonly opening: Omit<Opening, "listener" | "concurrency" | "givenUp" | "acceptsWithinMs">;
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
    returning: new Set(),
    feed: { ...newFeed(() => undefined), isLost: true },
    reconnecting: Promise.resolve(),
    phase: "running",
    probe: null,
    mayWait: 0,
    stopping: new AbortController(),
    watchers: [],
  };
  const { signal } = settings;
  const giveUp = (): void => engine.stopping.abort(signal.reason);
  signal.addEventListener("abort", giveUp);
  await openFeed(engine)
    .catch((cause: unknown) => {
      signal.throwIfAborted();
      throw adapter.refusal?.(opening.connection, cause) ?? cause;
    })
    .finally(() => signal.removeEventListener("abort", giveUp));
  const { strategy, workQueue, attempts } = opening.contract;
  report(engine, { kind: "started", strategy, workQueue, attempts: attempts.length });
  let stopped: Promise<void> | null = null;
  const stopOnce: Running["stop"] = (within) => {
    signal.removeEventListener("abort", stopNow);
    stopped ??= stop(engine, within === undefined ? settings.stopWithinMs : parseDurationMs(within));
    return stopped;
  };
  const stopNow = (): void => void stopOnce();
  signal.addEventListener("abort", stopNow);
  if (signal.aborted) stopNow();
  return { health: () => healthOf(engine), stop: stopOnce };
}

function healthOf(engine: Engine): Health {
  const { phase, feed, running, waiting, breaker } = engine;
  const isOver = phase === "stopping" || phase === "stopped";
  const isAway = (feed.isLost || feed.isSilent) && !isOver;
  const isBlocked = feed.blockedBecause !== null && phase === "running";
  const state = isAway ? "reconnecting" : isBlocked ? "blocked" : phase;
  return {
    state,
    isTaking: state === "running" || state === "probing" || (state === "blocked" && freeHandlers(engine) > 0),
    answeredMsAgo: feed.answeredAtMs === null ? null : performance.now() - feed.answeredAtMs,
    keptDeadLetters: feed.keptDeadLetters,
    handling: running.size,
    waiting: waiting.length,
    suspicion: breaker.suspicion(),
  };
}

async function stop(engine: Engine, withinMs: number): Promise<void> {
  const beganAtMs = performance.now();
  const leftOf = (limitMs: number): number => Math.max(0, beganAtMs + limitMs - performance.now());
  const mayCut = engine.adapter.unstarted === "hold";
  const allMs = Math.max(withinMs, mayCut ? shortestMs : pauseWithinMs + shortestMs);
  const handlersMs = withinMs - Math.min(lastWordsMs, withinMs / 4);
  const handBackMs = allMs - closeMs;
  const pauseMs = handBackMs - closeMs;
  const isDone = (): boolean => engine.running.size === 0 && engine.returning.size === 0;
  engine.phase = "stopping";
  report(engine, { kind: "stopping" });
  engine.stopping.abort();
  wakeWatchers(engine);
  const { feed } = engine;
  // Cutting a receive off spends an attempt of the messages that it would bring.
  const isIdle = isDone() && engine.waiting.length === 0 && mayCut;
  await atMost(Math.min(leftOf(pauseMs), isIdle ? idleWithinMs : pauseWithinMs), pauseFeed(feed));
  returnWaiting(engine);
  await atMost(leftOf(handlersMs), whenever(engine, isDone));
  feed.over.abort();
  for (const held of engine.running) abandon(engine, held);
  returnWaiting(engine);
  await atMost(leftOf(handBackMs), whenever(engine, isDone));
  // The consumer has given up a connection that was being made. It is gone when this is over.
  await atMost(leftOf(handBackMs), engine.reconnecting);
  if (!feed.isLost) {
    const settled = feed.opened?.settled?.();
    // Messages come back whose settlements the broker forgets, so these may take all the time that is left.
    if (settled !== undefined) await atMost(Math.min(leftOf(handBackMs), isIdle ? idleWithinMs : Infinity), settled);
    feed.isLost = true;
    const limitMs = Math.min(leftOf(allMs), idleWithinMs);
    if (feed.opened !== null) await atMost(limitMs, feed.opened.close(limitMs));
  }
  for (const held of new Set([...engine.running, ...engine.returning])) dropped(engine, held);
  engine.phase = "stopped";
  report(engine, { kind: "stopped" });
}

function returnWaiting(engine: Engine): void {
  const { waiting } = engine;
  engine.waiting = [];
  for (const held of waiting) void handBack(engine, held, false);
}

/**
 * The handler did not end in time. The consumer interrupted it, and the handler did not fail, so this costs no attempt.
 * If the handler has ended and the broker has not answered yet, the message gets no second settlement. If the first one
 * fails, its own caller returns the message.
 */
function abandon(engine: Engine, held: Held): void {
  if (held.isSettling) return;
  held.isAbandoned = true;
  held.signal.abort(new Error("the consumer stops"));
  engine.running.delete(held);
  void handBack(engine, held, true);
}
