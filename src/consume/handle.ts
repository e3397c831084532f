import { AsyncResource } from "node:async_hooks";

import { operationsAfter } from "./contract.ts";
import { growingPauses } from "./breaker.ts";
import type { Engine, Held, Link } from "./engine.ts";
import { report, wakeWatchers } from "./engine.ts";
import type { Delivery } from "./adapter.ts";
import { NotOursError } from "./adapter.ts";
import { afterMs, pauseMs } from "./long-timer.ts";
import type { Verdict } from "./run-attempt.ts";
import { createLazySignal, runAttempt } from "./run-attempt.ts";
import type { Settlement } from "./settlement.ts";
import { noValues, settlementOf } from "./settlement.ts";

/** Takes a message that has been delivered: its handler begins at once, or waits. */
export function take(engine: Engine, link: Link, delivery: Delivery): void {
  // Nobody can settle it any more, and its broker gives it again.
  if (link.isLost) return;
  const signal = createLazySignal();
  const held: Held = { delivery, link, signal, startedAtMs: 0, watchedIn: null, isSettling: false, isAbandoned: false };
  if (canBegin(engine)) begin(engine, held);
  else if (engine.phase === "paused" && engine.adapter.unstarted === "return") void handBack(engine, held, false);
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

/** Begins with what waits, as far as handlers are free. */
export function beginWaiting(engine: Engine): void {
  while (engine.waiting.length > 0 && canBegin(engine)) begin(engine, engine.waiting.shift() as Held);
}

async function handle(engine: Engine, held: Held): Promise<void> {
  const verdict = await watched(engine, held);
  if (held.isAbandoned) return;
  heed(engine, held, verdict);
  const settlement = settlementOf(engine.attempts.contract, engine.settings, held.delivery, verdict);
  held.isSettling = true;
  const settling = inItsContext(held, () => settle(engine, held, settlement, verdict));
  if (settling !== undefined) await settling;
  release(engine, held);
}

/** The attempt, and whoever watches it: where the watching fails, the handler has run once all the same. */
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
 * What the broker is told belongs to the attempt, too. An instrumentation of the client library writes the context that it finds on each copy, in
 * place of the message's own: it has to find one of the same trace.
 */
function inItsContext<Result>({ watchedIn }: Held, settling: () => Result): Result {
  return watchedIn === null ? settling() : watchedIn.runInAsyncScope(settling);
}

function release(engine: Engine, held: Held): void {
  engine.running.delete(held);
  if (engine.waiting.length > 0) beginWaiting(engine);
  wakeWatchers(engine);
}

/** Tells the breaker how an attempt ended. A body that nobody can read says nothing about an outage. */
function heed(engine: Engine, held: Held, verdict: Verdict): void {
  const isProbe = engine.probe === held;
  if (isProbe) engine.probe = null;
  else if (engine.phase !== "running") return;
  if (verdict.outcome === "transient") {
    const forMs = engine.breaker.failed(isProbe);
    if (forMs !== null) pauseTaking(engine, forMs);
  } else if (verdict.outcome === "success" || verdict.reason !== "UNREADABLE_MESSAGE") {
    engine.breaker.succeeded();
    if (isProbe) takeAgain(engine);
  }
}

function pauseTaking(engine: Engine, forMs: number): void {
  if (engine.phase === "stopping" || engine.phase === "stopped") return;
  engine.phase = "paused";
  report(engine, { kind: "paused", failures: engine.breaker.failures(), forMs });
  const { link } = engine;
  // A session that cannot even pause is broken.
  if (!link.isLost) link.session?.pause().catch(link.lose);
  const cancel = afterMs(forMs, () => {
    engine.stopping.signal.removeEventListener("abort", cancel);
    probe(engine);
  });
  engine.stopping.signal.addEventListener("abort", cancel);
}

/** The pause is over: one message is tried. */
function probe(engine: Engine): void {
  if (engine.phase !== "paused") return;
  engine.phase = "probing";
  report(engine, { kind: "probing" });
  const { link } = engine;
  // One that is lost is not used again; the next one begins in this phase.
  if (!link.isLost) link.session?.resume().catch(link.lose);
  beginWaiting(engine);
  wakeWatchers(engine);
}

function takeAgain(engine: Engine): void {
  if (engine.phase !== "probing") return;
  engine.phase = "running";
  report(engine, { kind: "resumed" });
  beginWaiting(engine);
  wakeWatchers(engine);
}

/** Without a promise it is done. The promise never rejects: it ends when the message is settled, or not ours any more. */
function settle(engine: Engine, held: Held, settlement: Settlement, verdict: Verdict): Promise<void> | undefined {
  const { session, isLost } = held.link;
  if (session === null || isLost) return dropped(engine, held);
  try {
    const settling = session.settle(held.delivery, settlement.operations, settlement.values);
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
 * The broker did not take it: a copy that has no route, say, because somebody has deleted the dead queue. The attempt is over and does
 * not run again, so its outcome is kept until the broker takes it. Meanwhile the message occupies its handler's place, and a consumer that can get
 * rid of nothing takes nothing.
 */
async function settleAgain(
  engine: Engine,
  held: Held,
  settlement: Settlement,
  verdict: Verdict,
  firstError: unknown,
): Promise<void> {
  const { delivery, link } = held;
  const { id: messageId, attempt } = delivery;
  const pauses = growingPauses(500, 30_000);
  for (let error = firstError; ;) {
    if (link.isLost || error instanceof NotOursError) return dropped(engine, held);
    report(engine, { kind: "settle-failed", messageId, attempt, error });
    await pauseMs(spread(pauses.next()), link.over.signal);
    if (link.isLost) return dropped(engine, held);
    if (link.over.signal.aborted) return handBack(engine, held, true);
    try {
      await link.session?.settle(delivery, settlement.operations, settlement.values);
      return settled(engine, held, verdict);
    } catch (cause) {
      error = cause;
    }
  }
}

/**
 * What failed together is not tried again together: a copy for an exchange that is gone costs the channel, and with it whatever else was on its way there,
 * each time.
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
  });
}

function dropped(engine: Engine, { delivery }: Held): undefined {
  report(engine, { kind: "settle-dropped", messageId: delivery.id, attempt: delivery.attempt });
}

/** Hands a message back as the contract says, once; where that fails, the end of the connection hands it back. It never rejects. */
export async function handBack(engine: Engine, held: Held, unfinished: boolean): Promise<void> {
  const { delivery, link } = held;
  const { id: messageId, attempt } = delivery;
  if (link.session === null || link.isLost) return;
  engine.returning += 1;
  try {
    await link.session.settle(delivery, operationsAfter(engine.attempts.contract.outcomes.return, attempt), noValues);
    report(engine, { kind: "returned", messageId, attempt, unfinished });
  } catch (error) {
    report(engine, { kind: "settle-failed", messageId, attempt, error });
  }
  engine.returning -= 1;
  wakeWatchers(engine);
}
