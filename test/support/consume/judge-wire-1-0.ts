import type { Contract, ModifiedOperation, Operation } from "../../../src/index.ts";
import { operationsFor } from "../drive.ts";
import type { WireFrame } from "./amqp-proxy.ts";
import type { WireFrame10, WireOutcome } from "./amqp-1-0-frames.ts";
import type { Handled } from "./handled.ts";

type Transfer = Extract<WireFrame10, { readonly kind: "transfer" }>;
export type Disposition = Extract<WireFrame10, { readonly kind: "disposition" }>;

/**
 * Compares the frames with a contract, for each delivery of these handlers. It must be settled once, after its handler
 * has ended, with exactly the contract's outcome. The check knows nothing of the consumer's code.
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
  return handled.flatMap((run) => {
    const { message, attempt } = run;
    const name = `${message}, attempt ${attempt}`;
    const deliveries = transfersOf(frames, run).length;
    if (deliveries !== 1) return [`${name}: delivered ${deliveries} times`];
    return deliveryBreaches(contract, run, dispositionsOf(frames, run), watched).map((breach) => `${name}: ${breach}`);
  });
}

function transfersOf(frames: readonly WireFrame[], { message, attempt }: Handled): readonly Transfer[] {
  return frames.filter(
    (frame): frame is Transfer =>
      frame.kind === "transfer" && frame.messageId === message && frame.failed === attempt - 1,
  );
}

/** The dispositions of one delivery, with their places. */
export function dispositionsOf(
  frames: readonly WireFrame[],
  run: Handled,
): readonly { readonly frame: Disposition; readonly index: number }[] {
  const [transfer] = transfersOf(frames, run);
  return frames.flatMap((frame, index) =>
    transfer !== undefined && settles(frame, transfer) ? [{ frame, index }] : [],
  );
}

function settles(frame: WireFrame, { session, delivery }: Transfer): frame is Disposition {
  return frame.kind === "disposition" && frame.session === session && frame.first <= delivery && delivery <= frame.last;
}

function deliveryBreaches(
  contract: Contract,
  run: Handled,
  found: readonly { readonly frame: Disposition; readonly index: number }[],
  watched: readonly string[],
): readonly string[] {
  const wanted = operationsFor(contract, run.decision, run.attempt);
  if (found.length !== wanted.length) return [`${found.length} dispositions instead of ${wanted.length}`];
  return found.flatMap(({ frame, index }, position) => {
    if (index < run.framesBefore) return ["a disposition before its handler has ended"];
    if (!frame.settled) return ["a disposition that does not settle"];
    return outcomeBreaches(wanted[position] as Operation, frame, run, watched);
  });
}

function outcomeBreaches(wanted: Operation, frame: Disposition, run: Handled, watched: readonly string[]) {
  const { outcome } = frame;
  if (outcome.name !== wanted.operation) return [`${outcome.name ?? "no outcome"} instead of ${wanted.operation}`];
  if (wanted.operation !== "modified") return [];
  return [
    ...(outcome.deliveryFailed === wanted.deliveryFailed ? [] : [`delivery-failed is ${outcome.deliveryFailed}`]),
    ...(outcome.undeliverableHere === wanted.undeliverableHere
      ? []
      : [`undeliverable-here is ${outcome.undeliverableHere}`]),
    ...timeBreaches(wanted, frame, run),
    ...annotationBreaches(wanted, outcome, watched),
  ];
}

const deliveryTime = "x-opt-delivery-time";

/** By it the next consumer sees whether the message comes too early. */
const wait = "x-opt-redeliver-wait";

/**
 * The time of the next delivery must be the delay after the failure. The failure lies between the end of the handler
 * and the time of the frame. The consumer rounds up, and its clock rounds down.
 */
function timeBreaches({ deliveryTimeMs }: ModifiedOperation, { outcome, atMs }: Disposition, { endedAtMs }: Handled) {
  const found = outcome.annotations.get(deliveryTime);
  if (deliveryTimeMs === undefined) return found === undefined ? [] : [`${deliveryTime} on what is not to come again`];
  if (found === undefined) return [`no ${deliveryTime}`];
  if (found.type !== "Long") return [`${deliveryTime} of type ${found.type}`];
  if (deliveryTimeMs === "asked") throw new Error("the decision says which delay is asked for");
  const time = Number(found.value);
  if (time < endedAtMs + deliveryTimeMs.from)
    return [`${deliveryTime} ${time - endedAtMs} ms after the failure, at least ${deliveryTimeMs.from} declared`];
  if (time > atMs + 1 + deliveryTimeMs.to)
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
  watched: readonly string[],
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
