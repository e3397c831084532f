import type { AsyncResource } from "node:async_hooks";

import type { Adapter, Delivery, Opening, Session } from "./adapter.ts";
import type { Breaker } from "./breaker.ts";
import type { ConsumeEvent } from "./event.ts";
import type { Settings } from "./options.ts";
import type { AttemptInput, LazySignal } from "./run-attempt.ts";
import { unheard } from "./unheard.ts";

/** A session and what hangs on it. Deliveries of one that is lost cannot be settled any more. */
export interface Link {
  /** Null until it is open, and when it is lost. */
  session: Session | null;
  isLost: boolean;
  /** The session goes on, and the broker does not answer for the time being. */
  isSilent: boolean;
  /** Given when it is lost, or when the consumer stops: whoever waits to try again need not. */
  readonly over: AbortController;
  /** Says that the connection is gone; more than once makes no difference. */
  readonly lose: (cause: unknown) => void;
}

/** A message in the consumer's hands. */
export interface Held {
  readonly delivery: Delivery;
  readonly link: Link;
  readonly signal: LazySignal;
  startedAtMs: number;
  /** The context that its attempt was watched in; null where nobody watches. */
  watchedIn: AsyncResource | null;
  /** What its attempt came to is on its way to the broker. */
  isSettling: boolean;
  /** It was handed back while its handler ran, so what the handler does now is not looked at. */
  isAbandoned: boolean;
}

/** `paused`: nothing is taken until the pause of the breaker is over. `probing`: one message is tried. */
export type Phase = "running" | "paused" | "probing" | "stopping" | "stopped";

/** All that changes while a consumer runs. */
export interface Engine {
  readonly adapter: Adapter;
  readonly opening: Omit<Opening, "listener" | "givenUp">;
  readonly settings: Settings;
  readonly attempts: AttemptInput;
  readonly breaker: Breaker;
  /** Messages whose handlers run, or which are being settled. */
  readonly running: Set<Held>;
  /** Messages whose handlers have not begun. */
  waiting: Held[];
  /** How many messages are being handed back. */
  returning: number;
  link: Link;
  /** Ends when there is a link again, or when the consumer stops. It never rejects. */
  reconnecting: Promise<void>;
  phase: Phase;
  /** The one message that is tried while probing. */
  probe: Held | null;
  /** Given when the consumer stops. */
  readonly stopping: AbortController;
  /** Called when a handler could begin, or when a message is done with. */
  watchers: (() => void)[];
}

export function report(engine: Engine, event: ConsumeEvent): void {
  const { settings, attempts } = engine;
  settings.log(event);
  const { telemetry } = settings;
  if (telemetry !== null) unheard(() => telemetry.event(attempts.contract, event));
}

/** How many more handlers could begin, those aside that wait for it already. */
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

/** Lets everybody look again who waits for something to change. */
export function wakeWatchers(engine: Engine): void {
  if (engine.watchers.length === 0) return;
  const { watchers } = engine;
  engine.watchers = [];
  for (const wake of watchers) wake();
}

/** Resolves when the condition holds; looked at whenever a message is done or the phase changes. */
export async function whenever(engine: Engine, condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => engine.watchers.push(resolve));
}
