import { AsyncResource } from "node:async_hooks";

import { operationsAfter } from "../contract/interpret.ts";
import { historyOf } from "../operate/history.ts";
import { growingPauses } from "./port/growing-pauses.ts";
import { type Engine, type Held, type FeedState, pauseFeed, report, takeAsWanted, wakeWatchers } from "./engine.ts";
import { type Delivery, NotOursError } from "./port/adapter.ts";
import { afterMs, pauseMs } from "./port/long-timer.ts";
import { type Verdict, createLazySignal, runAttempt } from "./run-attempt.ts";
import { type Settlement, noValues, settlementOf } from "./settlement.ts";

/** Takes a delivered message: its handler begins at once, or waits. */
export function take(engine: Engine, feed: FeedState, delivery: Delivery): void {
  // It cannot be settled any more, and its broker delivers it again.
  if (feed.isLost) return;
  const signal = createLazySignal();
  const held: Held = { delivery, feed, signal, startedAtMs: 0, watchedIn: null, isSettling: false, isAbandoned: false };
  if (canBegin(engine)) begin(engine, held);
  else if (engine.phase === "paused" && engine.waiting.length >= engine.mayWait) void handBack(engine, held, false);
  else engine.waiting.push(held);
}

function canBegin(engine: Engine): boolean {
  if (engine.running.size >= engine.settings.concurrency) return false;
  return engine.phase === "running" || (engine.phase === "probing" && engine.probe === null);
}

function begin(engine: Engine, held: Held): void {
  engine.running.add(held);
  if (engine.phase === "probing") engine.probe = held;
  held.startedAtMs = performance.now();
  void handle(engine, held);
}

/** Begins waiting messages, as long as handlers are free. */
export function beginWaiting(engine: Engine): void {
  while (engine.waiting.length > 0 && canBegin(engine)) begin(engine, nextWaiting(engine));
}

/** The first message. While probing, the first at the lowest attempt: it says most about an outage. */
function nextWaiting({ phase, waiting }: Engine): Held {
  const attempts = phase === "probing" ? waiting.map(({ delivery }) => delivery.attempt) : [];
  const index = Math.max(0, attempts.indexOf(Math.min(...attempts)));
  return waiting.splice(index, 1)[0] as Held;
}

async function handle(engine: Engine, held: Held): Promise<void> {
  const verdict = await watched(engine, held);
  if (held.isAbandoned) return;
  heed(engine, held, verdict);
  const settlement = settlementOf(engine.attempts.contract, engine.settings, held.delivery, verdict);
  held.isSettling = true;
  const settling = inItsContext(held, () => settleHeld(engine, held, settlement, verdict));
  if (settling !== undefined) await settling;
  release(engine, held);
}

/** Runs the attempt under telemetry. If the telemetry fails, the handler has still run exactly once. */
function watched({ attempts, settings }: Engine, held: Held): Promise<Verdict> {
  const { delivery, signal } = held;
  let attempt: Promise<Verdict> | null = null;
  const run = (): Promise<Verdict> => {
    if (attempt !== null) return attempt;
    if (settings.telemetry !== null) held.watchedIn = new AsyncResource("RedeliverAttempt");
    return (attempt = runAttempt(attempts, delivery, signal));
  };
  const { telemetry } = settings;
  if (telemetry === null) return run();
  const watching = async (): Promise<Verdict> => telemetry.attempt(attempts.contract, delivery, run);
  return watching().catch(run);
}

/**
 * The settlement belongs to the attempt, too. An instrumented client library writes the current context on each copy
 * and replaces the message's own. So the current context must belong to the same trace.
 */
function inItsContext<Result>({ watchedIn }: Held, settling: () => Result): Result {
  return watchedIn === null ? settling() : watchedIn.runInAsyncScope(settling);
}

function release(engine: Engine, held: Held): void {
  engine.running.delete(held);
  takeMore(engine);
}

/** Begins messages in hand first, and then takes more as the phase allows. */
function takeMore(engine: Engine): void {
  beginWaiting(engine);
  const { feed } = engine;
  takeAsWanted(engine, feed).catch(feed.lose);
  wakeWatchers(engine);
}

/** Tells the breaker how an attempt ended. An unreadable body says nothing about an outage. */
function heed(engine: Engine, held: Held, verdict: Verdict): void {
  const isProbe = engine.probe === held;
  if (isProbe) engine.probe = null;
  else if (engine.phase !== "running") return;
  const { attempt } = held.delivery;
  if (verdict.outcome === "transient") {
    const forMs = engine.breaker.failed(attempt);
    if (forMs !== null) pauseTaking(engine, forMs);
  } else if (verdict.outcome === "success" || verdict.reason !== "UNREADABLE_MESSAGE") {
    engine.breaker.succeeded(attempt);
    if (isProbe) takeAgain(engine);
  }
}

/**
 * The longest wait in hand for a probe. Meanwhile a crash of this process or the broker's consumer timeout, by default
 * 30 minutes, can hit the message. Up to RabbitMQ 4.2 returning it costs a delivery of its crash budget, so few
 * messages wait.
 */
const heldMostMs = 600_000;

function pauseTaking(engine: Engine, forMs: number): void {
  if (engine.phase === "stopping" || engine.phase === "stopped") return;
  engine.phase = "paused";
  report(engine, { kind: "paused", failures: engine.breaker.failures(), forMs });
  void pauseFeed(engine.feed);
  engine.mayWait = engine.adapter.unstarted === "return" ? 0 : Math.floor(heldMostMs / forMs);
  for (const held of engine.waiting.splice(engine.mayWait)) void handBack(engine, held, false);
  const cancel = afterMs(forMs, () => {
    engine.stopping.signal.removeEventListener("abort", cancel);
    probe(engine);
  });
  engine.stopping.signal.addEventListener("abort", cancel);
}

/** The pause is over, and the consumer tries messages one at a time. */
function probe(engine: Engine): void {
  if (engine.phase !== "paused") return;
  engine.phase = "probing";
  report(engine, { kind: "probing" });
  takeMore(engine);
}

function takeAgain(engine: Engine): void {
  if (engine.phase !== "probing") return;
  engine.phase = "running";
  report(engine, { kind: "resumed" });
  takeMore(engine);
}

/**
 * If it returns no promise, it is done. The promise never rejects: it resolves when the message is settled or no longer
 * ours.
 */
function settleHeld(engine: Engine, held: Held, settlement: Settlement, verdict: Verdict): Promise<void> | undefined {
  const { opened, isLost } = held.feed;
  if (opened === null || isLost) return dropped(engine, held);
  try {
    const settling = opened.settle(held.delivery, settlement.operations, settlement.values);
    if (settling === undefined) return settled(engine, held, verdict);
    return settling.then(
      () => settled(engine, held, verdict),
      (error: unknown) => settleAgain(engine, held, settlement, verdict, error),
    );
  } catch (error) {
    return settleAgain(engine, held, settlement, verdict, error);
  }
}

/**
 * The broker did not accept the settlement, for example a copy without a route after the dead queue was deleted. The
 * attempt is over and does not run again, so its outcome is kept until the broker accepts it. Until then the message
 * occupies its handler's place. So a consumer whose settlements all fail takes nothing more.
 */
async function settleAgain(
  engine: Engine,
  held: Held,
  settlement: Settlement,
  verdict: Verdict,
  firstError: unknown,
): Promise<void> {
  const { delivery, feed } = held;
  const { id: messageId, attempt } = delivery;
  const pauses = growingPauses(500, 30_000);
  for (let error = firstError; ;) {
    if (feed.isLost || error instanceof NotOursError) return dropped(engine, held);
    report(engine, { kind: "settle-failed", messageId, attempt, error });
    await pauseMs(spread(pauses.next()), feed.over.signal);
    if (feed.isLost) return dropped(engine, held);
    if (feed.over.signal.aborted) return handBack(engine, held, true);
    try {
      await feed.opened?.settle(delivery, settlement.operations, settlement.values);
      return settled(engine, held, verdict);
    } catch (cause) {
      error = cause;
    }
  }
}

/**
 * Spreads the repeats of settlements that failed together. A copy for a missing exchange costs the channel each time,
 * with all else on its way there.
 */
function spread(pause: number): number {
  return pause * (0.5 + 0.5 * Math.random());
}

function settled(engine: Engine, { delivery, startedAtMs }: Held, verdict: Verdict): undefined {
  const isFailure = verdict.outcome !== "success";
  report(engine, {
    kind: "settled",
    outcome: verdict.outcome,
    messageId: delivery.id,
    attempt: delivery.attempt,
    durationMs: performance.now() - startedAtMs,
    reason: isFailure ? verdict.reason : null,
    error: isFailure ? verdict.error : null,
    isLast: verdict.outcome !== "transient" || delivery.attempt >= engine.attempts.contract.attempts.length,
    redriven: redrivenBy(delivery),
  });
}

function redrivenBy({ headers }: Delivery): { readonly redrive: string; readonly letter: string } | null {
  const [last] = historyOf({ headers });
  return last?.letter === undefined ? null : { redrive: last.redrive, letter: last.letter };
}

/** It is unknown whether the message is settled. */
export function dropped(engine: Engine, { delivery }: Held): undefined {
  report(engine, { kind: "settle-dropped", messageId: delivery.id, attempt: delivery.attempt });
}

/**
 * Returns a message as the contract says, once. If that fails, the end of the connection returns it. It never rejects.
 */
export async function handBack(engine: Engine, held: Held, unfinished: boolean): Promise<void> {
  const { delivery, feed } = held;
  const { id: messageId, attempt } = delivery;
  if (feed.opened === null || feed.isLost) return;
  engine.returning.add(held);
  try {
    await feed.opened.settle(delivery, operationsAfter(engine.attempts.contract.outcomes.return, attempt), noValues);
    report(engine, { kind: "returned", messageId, attempt, unfinished });
  } catch (error) {
    report(engine, { kind: "settle-failed", messageId, attempt, error });
  }
  engine.returning.delete(held);
  wakeWatchers(engine);
}
