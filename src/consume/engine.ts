import type { AsyncResource } from "node:async_hooks";

import type { Adapter, Delivery, Opening, Feed } from "./port/adapter.ts";
import type { Breaker } from "./breaker.ts";
import type { ConsumeEvent } from "./port/event.ts";
import type { Settings } from "./options.ts";
import type { AttemptInput, LazySignal } from "./run-attempt.ts";
import { unheard } from "./unheard.ts";

/** A feed and the state of its connection. Deliveries of a lost feed cannot be settled any more. */
export interface FeedState {
  /** Null before it is open and after it is lost. */
  opened: Feed | null;
  isLost: boolean;
  /** True if the feed goes on but the broker does not answer for now. */
  isSilent: boolean;
  /** Null if the client library does not report it. */
  answeredAtMs: number | null;
  /** The reason why the broker accepts no copies for now. Null if it accepts them. */
  blockedBecause: string | null;
  /** The number of messages that the broker keeps because it cannot dead-letter them. Null if unknown. */
  keptDeadLetters: number | null;
  /** The number of messages that its feed takes at a time. Zero while it pauses. */
  taking: number;
  /** Aborted when the feed is lost or the consumer stops, so that no caller waits longer for another try. */
  readonly over: AbortController;
  /** Reports that the connection is gone. Further calls have no effect. */
  readonly lose: (cause: unknown) => void;
}

/** A message in the consumer's hands. */
export interface Held {
  readonly delivery: Delivery;
  readonly feed: FeedState;
  readonly signal: LazySignal;
  startedAtMs: number;
  /** The async context in which telemetry watches the attempt. Null without telemetry. */
  watchedIn: AsyncResource | null;
  /** True while the settlement is on its way to the broker. */
  isSettling: boolean;
  /** True if the message was returned while its handler ran, so the handler's outcome is ignored. */
  isAbandoned: boolean;
}

/**
 * `paused`: the consumer takes nothing until the breaker's pause is over. `probing`: it tries messages one at a time.
 */
export type Phase = "running" | "paused" | "probing" | "stopping" | "stopped";

/** All state that changes while a consumer runs. */
export interface Engine {
  readonly adapter: Adapter;
  readonly opening: Omit<Opening, "listener" | "givenUp" | "acceptsWithinMs">;
  readonly settings: Settings;
  readonly attempts: AttemptInput;
  readonly breaker: Breaker;
  /** Messages with running handlers, and messages that are being settled. */
  readonly running: Set<Held>;
  /** Messages whose handlers have not begun. */
  waiting: Held[];
  /** Messages that are being returned. */
  readonly returning: Set<Held>;
  feed: FeedState;
  /** Resolves when there is a feed again, or when the consumer stops. It never rejects. */
  reconnecting: Promise<void>;
  phase: Phase;
  /** The message that is being tried while probing. */
  probe: Held | null;
  /** The number of messages that may wait in hand while the consumer pauses. */
  mayWait: number;
  /** Aborted when the consumer stops. */
  readonly stopping: AbortController;
  /** Called when a handler could begin, or when a message is settled or returned. */
  watchers: (() => void)[];
}

/** A stopped consumer reports nothing. */
export function report(engine: Engine, event: ConsumeEvent): void {
  if (engine.phase === "stopped" && event.kind !== "stopped") return;
  const { settings, attempts } = engine;
  settings.log(event);
  const { telemetry } = settings;
  if (telemetry !== null) unheard(() => telemetry.event(attempts.contract, event));
}

/** The number of handlers that could begin, without those for messages that already wait. */
export function freeHandlers(engine: Engine): number {
  const { concurrency } = engine.settings;
  switch (engine.phase) {
    case "running":
      return Math.max(0, concurrency - engine.running.size - engine.waiting.length);
    case "probing":
      return engine.probe === null && engine.waiting.length === 0 && engine.running.size < concurrency ? 1 : 0;
    case "paused":
    case "stopping":
    case "stopped":
      return 0;
    default:
      return engine.phase satisfies never;
  }
}

/**
 * Makes the feed take as many messages as the phase allows, less the handlers that lost feeds still occupy. While
 * probing, a waiting message goes first. It does not ask again for every single handler that becomes free.
 */
export async function takeAsWanted(engine: Engine, feed: FeedState): Promise<void> {
  const wanted = wantedIn(engine);
  if (wanted <= feed.taking || feed.isLost || feed.opened === null) return;
  const stale = [...engine.running].filter((held) => held.feed !== feed).length;
  const most = Math.min(wanted, engine.settings.concurrency - stale);
  if (most <= 0 || (stale > 0 && most < 2 * feed.taking)) return;
  feed.taking = most;
  await feed.opened.resume(most);
}

function wantedIn({ phase, probe, waiting, settings }: Engine): number {
  if (phase === "running") return settings.concurrency;
  return phase === "probing" && probe === null && waiting.length === 0 ? 1 : 0;
}

/** A feed that cannot even pause is broken, so it counts as lost. */
export function pauseFeed(feed: FeedState): Promise<void> {
  if (feed.isLost || feed.opened === null) return Promise.resolve();
  feed.taking = 0;
  return feed.opened.pause().catch(feed.lose);
}

/** Makes all waiting callers check their conditions again. */
export function wakeWatchers(engine: Engine): void {
  if (engine.watchers.length === 0) return;
  const { watchers } = engine;
  engine.watchers = [];
  for (const wake of watchers) wake();
}

/** Resolves when the condition holds. It checks whenever a message is done or the phase changes. */
export async function whenever(engine: Engine, condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => engine.watchers.push(resolve));
}
