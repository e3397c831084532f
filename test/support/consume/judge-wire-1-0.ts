import type { Contract, ModifiedOperation, Operation } from "../../../src/index.ts";
import { operationsFor } from "../drive.ts";
import type { WireFrame } from "./amqp-proxy.ts";
import type { WireFrame10, WireOutcome } from "./amqp-1-0-frames.ts";
import type { Handled } from "./handled.ts";

type Transfer = Extract<WireFrame10, { readonly kind: "transfer" }>;
export type Disposition = Extract<WireFrame10, { readonly kind: "disposition" }>;

/**
 * Compares the frames with a contract, for each delivery of these handlers. It must be settled once, after its handler
 * has ended, with exactly the contract's outcome. Before it, only deliveries that come before their time may go back.
 * The check knows nothing of the consumer's code.
 *
 * @param watched names of annotations that monitoring adds on each failure, beside those of the contract
 * @returns the differences, in words; empty for a consumer that keeps its contract
 */
export function breachesOf10(
  contract: Contract,
  frames: readonly WireFrame[],
  handled: readonly Handled[],
  watched: readonly string[] = [],
): readonly string[] {
  const returns = new Map(handled.map((run) => [run, transfersOf(frames, run).slice(0, -1)]));
  const earlyMs = [...returns.values()].flat().map((early) => dueBefore(frames, early) - early.atMonotonicMs);
  const allowed = { watched, lateMs: earlyMs.length === 0 ? 0 : 2 * Math.max(...earlyMs) + 6 };
  return handled.flatMap((run) =>
    [
      ...(returns.get(run) ?? []).flatMap((early) => returnBreaches(frames, early)),
      ...deliveryBreaches(contract, run, dispositionsOf(frames, run), allowed),
    ].map((breach) => `${run.message}, attempt ${run.attempt}: ${breach}`),
  );
}

/** A consumer whose retries came early is behind the broker's clock. It may give later times, by twice as much. */
interface Allowed {
  readonly watched: readonly string[];
  readonly lateMs: number;
}

function transfersOf(frames: readonly WireFrame[], { message, attempt }: Handled): readonly Transfer[] {
  return frames.filter(
    (frame): frame is Transfer =>
      frame.kind === "transfer" && frame.messageId === message && frame.failed === attempt - 1,
  );
}

/** The dispositions of the delivery that was handled, with their places. */
export function dispositionsOf(
  frames: readonly WireFrame[],
  run: Handled,
): readonly { readonly frame: Disposition; readonly index: number }[] {
  const transfer = transfersOf(frames, run).at(-1);
  return frames.flatMap((frame, index) =>
    transfer !== undefined && settles(frame, transfer) ? [{ frame, index }] : [],
  );
}

export function settles(frame: WireFrame, { session, delivery }: Transfer): frame is Disposition {
  return frame.kind === "disposition" && frame.session === session && frame.first <= delivery && delivery <= frame.last;
}

/**
 * A consumer may give a retry back without a run if it came before its time. Only the rest of its delay may follow.
 * The broker's clock decides when a retry comes, and it may be ahead of the consumer's by some milliseconds.
 */
function returnBreaches(frames: readonly WireFrame[], early: Transfer): readonly string[] {
  const [returned, ...more] = frames.filter((frame) => settles(frame, early));
  if (returned === undefined || more.length > 0) return ["an early delivery is not settled once"];
  const { name, deliveryFailed, undeliverableHere } = returned.outcome;
  if (name !== "modified" || deliveryFailed || undeliverableHere) return [`an early delivery ends as ${name}`];
  const dueMs = dueBefore(frames, early);
  if (!(early.atMonotonicMs < dueMs)) return ["a delivery in its time is given back"];
  const nextMs = dueAt(returned);
  const latestMs = dueMs + returned.atMonotonicMs - early.atMonotonicMs + 2;
  return nextMs >= dueMs && nextMs <= latestMs ? [] : [`the rest ends at ${nextMs} ms, the delay at ${dueMs} ms`];
}

/** The time that the message's outcome before this delivery gave it; not a number if there is none. */
function dueBefore(frames: readonly WireFrame[], delivery: Transfer): number {
  const before = frames
    .slice(0, frames.indexOf(delivery))
    .findLast((frame) => frame.kind === "transfer" && frame.messageId === delivery.messageId) as Transfer | undefined;
  return dueAt(frames.find((frame) => before !== undefined && settles(frame, before)));
}

/** The end of the delay by the consumer's monotonic clock, which is also that of these tests. */
function dueAt(disposition: WireFrame | undefined): number {
  const value = disposition?.kind === "disposition" ? disposition.outcome.annotations.get(wait)?.value : undefined;
  const [, sinceMs, , delayMs] = String(value).split(" ");
  return Number(sinceMs) + Number(delayMs);
}

function deliveryBreaches(
  contract: Contract,
  run: Handled,
  found: readonly { readonly frame: Disposition; readonly index: number }[],
  allowed: Allowed,
): readonly string[] {
  const wanted = operationsFor(contract, run.decision, run.attempt);
  if (found.length !== wanted.length) return [`${found.length} dispositions instead of ${wanted.length}`];
  return found.flatMap(({ frame, index }, position) => {
    if (index < run.framesBefore) return ["a disposition before its handler has ended"];
    if (!frame.settled) return ["a disposition that does not settle"];
    return outcomeBreaches(wanted[position] as Operation, frame, run, allowed);
  });
}

function outcomeBreaches(wanted: Operation, frame: Disposition, run: Handled, allowed: Allowed) {
  const { outcome } = frame;
  if (outcome.name !== wanted.operation) return [`${outcome.name ?? "no outcome"} instead of ${wanted.operation}`];
  if (wanted.operation !== "modified") return [];
  return [
    ...(outcome.deliveryFailed === wanted.deliveryFailed ? [] : [`delivery-failed is ${outcome.deliveryFailed}`]),
    ...(outcome.undeliverableHere === wanted.undeliverableHere
      ? []
      : [`undeliverable-here is ${outcome.undeliverableHere}`]),
    ...timeBreaches(wanted, frame, run, allowed),
    ...annotationBreaches(wanted, outcome, allowed),
  ];
}

const deliveryTime = "x-opt-delivery-time";

/** By it the next consumer sees whether the message comes too early. */
const wait = "x-opt-redeliver-wait";

/**
 * The time of the next delivery must be the delay after the failure. The failure lies between the end of the handler
 * and the time of the frame. The consumer rounds up, and its clock rounds down.
 */
function timeBreaches(
  { deliveryTimeMs }: ModifiedOperation,
  { outcome, atMs }: Disposition,
  { endedAtMs }: Handled,
  { lateMs }: Allowed,
): readonly string[] {
  const found = outcome.annotations.get(deliveryTime);
  if (deliveryTimeMs === undefined) return found === undefined ? [] : [`${deliveryTime} on what is not to come again`];
  if (found === undefined) return [`no ${deliveryTime}`];
  if (found.type !== "Long") return [`${deliveryTime} of type ${found.type}`];
  if (deliveryTimeMs === "asked") throw new Error("the decision says which delay is asked for");
  const time = Number(found.value);
  if (time < endedAtMs + deliveryTimeMs.from)
    return [`${deliveryTime} ${time - endedAtMs} ms after the failure, at least ${deliveryTimeMs.from} declared`];
  if (time > atMs + 1 + deliveryTimeMs.to + lateMs)
    return [`${deliveryTime} ${time - atMs} ms after the disposition, at most ${deliveryTimeMs.to} declared`];
  return [];
}

/**
 * A dead letter carries the contract's annotations, and more of that kind. Beside those and the watched ones, there are
 * no others.
 */
function annotationBreaches(
  { messageAnnotations, deliveryTimeMs }: ModifiedOperation,
  { annotations }: WireOutcome,
  { watched }: Allowed,
): readonly string[] {
  const wanted = Object.entries(messageAnnotations ?? {});
  const others = [...annotations.keys()].filter(
    (name) =>
      name !== deliveryTime &&
      !(deliveryTimeMs !== undefined && name === wait) &&
      !watched.includes(name) &&
      !(messageAnnotations !== undefined && name.startsWith("x-opt-dlq-")),
  );
  return [
    ...wanted.flatMap(([name, value]) => {
      const found = annotations.get(name)?.value;
      return found === value ? [] : [`${name} is ${String(found)} instead of ${value}`];
    }),
    ...others.map((name) => `${name} on it`),
    ...watched.flatMap((name) => (annotations.has(name) ? [] : [`no ${name}`])),
  ];
}
