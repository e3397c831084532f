import type { Breaker } from "../../../src/consume/breaker.ts";
import { draw } from "../../../src/simulate/draw.ts";
import { createFifo, type Fifo } from "./fifo.ts";

/** The faults in a run. Shares are fractions of 1. */
export interface Conditions {
  readonly arrivalsPerSecond: number;
  /** Messages that always fail. */
  readonly poison: number;
  /** Attempts that fail by themselves. */
  readonly flaky: number;
  /** For this time, this share of the calls to the handlers' dependency fails. */
  readonly outage: { readonly share: number; readonly forMs: number } | null;
  /**
   * For this time the broker reaches no consumer. Messages that come due meanwhile arrive together, before any new one.
   */
  readonly cutOffForMs: number;
  /** Messages that wait when the outage begins. */
  readonly backlog: number;
}

export interface Figures {
  /** Share of the time without an outage in which the consumer pauses or tries single messages. */
  readonly pausedForNothing: number;
  readonly longestForNothingMs: number;
  /** Dead messages that are not poison. */
  readonly diedWell: number;
  /** From the beginning of the outage to the first pause; null without a pause. */
  readonly foundAfterMs: number | null;
}

export const concurrency = 10;
export const delaysMs = [1_000, 10_000, 60_000] as const;
/** The time when the faults begin. Messages of each attempt are then under way. */
const beginsMs = 120_000;
export const lastsMs = 900_000;

interface Message {
  readonly id: number;
  attempt: number;
  dueMs: number;
}

interface Run {
  readonly message: Message;
  readonly endsMs: number;
  readonly isFailure: boolean;
}

interface Consumer {
  readonly conditions: Conditions;
  readonly breaker: Pick<Breaker, "failed" | "succeeded">;
  readonly seed: number;
  readonly ready: Fifo<Message>;
  readonly tiers: readonly Fifo<Message>[];
  /** Delivered, but not begun. */
  readonly inHand: Message[];
  readonly running: Run[];
  phase: "running" | "paused" | "probing";
  probe: Message | null;
  pausedSinceMs: number;
  pauseEndsMs: number;
  published: number;
  nextArrivalMs: number;
  pausedMs: number;
  longestMs: number;
  diedWell: number;
  foundAfterMs: number | null;
}

/** One consumer and its queue in virtual time. With the same seed, a message has the same fate under every breaker. */
export function simulate(conditions: Conditions, breaker: Consumer["breaker"], seed: number): Figures {
  const consumer: Consumer = {
    conditions,
    breaker,
    seed,
    ready: createFifo(),
    tiers: delaysMs.map(() => createFifo()),
    inHand: [],
    running: [],
    phase: "running",
    probe: null,
    pausedSinceMs: 0,
    pauseEndsMs: Number.POSITIVE_INFINITY,
    published: 0,
    nextArrivalMs: 0,
    pausedMs: 0,
    longestMs: 0,
    diedWell: 0,
    foundAfterMs: null,
  };
  for (let atMs = 0; atMs <= lastsMs; atMs = happens(consumer)) take(consumer, atMs);
  if (consumer.phase !== "running") countPause(consumer, lastsMs);
  const { pausedMs, longestMs, diedWell, foundAfterMs } = consumer;
  const calmMs = lastsMs - (conditions.outage?.forMs ?? 0);
  return { pausedForNothing: pausedMs / calmMs, longestForNothingMs: longestMs, diedWell, foundAfterMs };
}

/** Plays the next event. @returns its time */
function happens(consumer: Consumer): number {
  const { running, tiers, nextArrivalMs, pauseEndsMs } = consumer;
  let first: Run | undefined;
  for (const each of running) if (first === undefined || each.endsMs < first.endsMs) first = each;
  let due: Fifo<Message> | undefined;
  for (const each of tiers) if (dueOf(each) < dueOf(due)) due = each;
  const endsMs = first?.endsMs ?? Number.POSITIVE_INFINITY;
  const atMs = Math.min(endsMs, dueOf(due), nextArrivalMs, pauseEndsMs);
  if (atMs > lastsMs) return atMs;
  if (first !== undefined && atMs === endsMs) end(consumer, first);
  else if (due !== undefined && atMs === dueOf(due)) consumer.ready.push(due.shift());
  else if (atMs === nextArrivalMs) arrive(consumer);
  else {
    consumer.phase = "probing";
    consumer.pauseEndsMs = Number.POSITIVE_INFINITY;
  }
  return atMs;
}

function dueOf(tier: Fifo<Message> | undefined): number {
  return tier?.first()?.dueMs ?? Number.POSITIVE_INFINITY;
}

function arrive(consumer: Consumer): void {
  const { conditions, ready, seed, nextArrivalMs: atMs } = consumer;
  const meanMs = 1_000 / conditions.arrivalsPerSecond;
  consumer.nextArrivalMs += 2 * meanMs * draw(seed, consumer.published, 0);
  if (isCutOff(consumer, consumer.nextArrivalMs)) consumer.nextArrivalMs = beginsMs + conditions.cutOffForMs + 1;
  const isBeginning = atMs < beginsMs && consumer.nextArrivalMs >= beginsMs;
  const count = isBeginning ? 1 + conditions.backlog : 1;
  for (let each = 0; each < count; each++) ready.push({ id: consumer.published++, attempt: 1, dueMs: 0 });
}

/** Like src/consume/handle.ts: waiting messages begin before the next delivery. */
function take(consumer: Consumer, atMs: number): void {
  const { ready, inHand, running, phase } = consumer;
  if (phase === "paused") return;
  for (;;) {
    const isFree = running.length < concurrency && (phase === "running" || consumer.probe === null);
    if (isFree && inHand.length > 0) begin(consumer, atMs);
    else if (running.length + inHand.length < concurrency && ready.length() > 0 && !isCutOff(consumer, atMs)) {
      inHand.push(ready.shift());
    } else return;
  }
}

/** The first message; while probing, the first one of the lowest attempt. */
function begin(consumer: Consumer, atMs: number): void {
  const { inHand, running, seed, phase } = consumer;
  const attempts = phase === "probing" ? inHand.map(({ attempt }) => attempt) : [];
  const index = Math.max(0, attempts.indexOf(Math.min(...attempts)));
  const message = inHand.splice(index, 1)[0] as Message;
  if (phase === "probing") consumer.probe = message;
  const durationMs = 50 + 100 * draw(seed, message.id, 4 * message.attempt);
  running.push({ message, endsMs: atMs + durationMs, isFailure: fails(consumer, message, atMs) });
}

function fails(consumer: Consumer, message: Message, atMs: number): boolean {
  const { conditions, seed } = consumer;
  const luck = (position: number): number => draw(seed, message.id, 4 * message.attempt + position);
  if (isPoison(consumer, message) || luck(1) < conditions.flaky) return true;
  return isOut(consumer, atMs) && luck(2) < (conditions.outage?.share ?? 0);
}

function end(consumer: Consumer, run: Run): void {
  const { running, tiers } = consumer;
  const { message, endsMs, isFailure } = run;
  running.splice(running.indexOf(run), 1);
  heed(consumer, run);
  if (!isFailure) return;
  const delayMs = delaysMs[message.attempt - 1];
  if (delayMs === undefined) {
    consumer.diedWell += isPoison(consumer, message) ? 0 : 1;
    return;
  }
  tiers[message.attempt - 1]?.push(message);
  message.attempt += 1;
  message.dueMs = endsMs + delayMs;
}

function heed(consumer: Consumer, { message, endsMs, isFailure }: Run): void {
  const { breaker, phase, probe } = consumer;
  const isProbe = probe === message;
  if (isProbe) consumer.probe = null;
  else if (phase !== "running") return;
  if (!isFailure) {
    breaker.succeeded(message.attempt);
    if (isProbe) countPause(consumer, endsMs);
    consumer.phase = "running";
    return;
  }
  const forMs = breaker.failed(message.attempt);
  if (forMs === null) return;
  if (phase === "running") consumer.pausedSinceMs = endsMs;
  if (isOut(consumer, endsMs)) consumer.foundAfterMs ??= endsMs - beginsMs;
  consumer.phase = "paused";
  consumer.pauseEndsMs = endsMs + forMs;
}

/** Counts the part of a pause before or after the outage. */
function countPause(consumer: Consumer, untilMs: number): void {
  const { pausedSinceMs: sinceMs, conditions } = consumer;
  const endedMs = beginsMs + (conditions.outage?.forMs ?? 0);
  const before = Math.max(0, Math.min(untilMs, beginsMs) - sinceMs);
  const after = Math.max(0, untilMs - Math.max(sinceMs, endedMs));
  consumer.pausedMs += before + after;
  consumer.longestMs = Math.max(consumer.longestMs, before, after);
}

function isPoison({ conditions, seed }: Consumer, { id }: Message): boolean {
  return draw(seed, id, 1) < conditions.poison;
}

function isOut({ conditions: { outage } }: Consumer, atMs: number): boolean {
  return outage !== null && atMs >= beginsMs && atMs < beginsMs + outage.forMs;
}

function isCutOff({ conditions: { cutOffForMs } }: Consumer, atMs: number): boolean {
  return atMs >= beginsMs && atMs < beginsMs + cutOffForMs;
}
