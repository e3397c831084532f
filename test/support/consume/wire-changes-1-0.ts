import type { WireFrame } from "./amqp-proxy.ts";
import type { WireOutcome } from "./amqp-1-0-frames.ts";
import type { Handled } from "./handled.ts";
import { dispositionsOf, type Disposition } from "./judge-wire-1-0.ts";
import type { Change } from "./one-place-changes.ts";

/** The recorded frames, and the ends of the handlers meanwhile. */
export interface Record10 {
  readonly frames: readonly WireFrame[];
  readonly handled: readonly Handled[];
}

const deliveryTime = "x-opt-delivery-time";

/** The record with one fault of a consumer, for each disposition of one delivery. */
export function wireChangesOf10(
  frames: readonly WireFrame[],
  handled: readonly Handled[],
  run: Handled,
): readonly Change<Record10>[] {
  const { message, attempt } = run;
  const later = handled.with(handled.indexOf(run), { ...run, framesBefore: frames.length });
  return dispositionsOf(frames, run).flatMap(({ frame, index }) => {
    const instead = (what: string, ...others: readonly WireFrame[]): Change<Record10> => ({
      what: `${message}, attempt ${attempt}: ${what}`,
      value: { frames: frames.toSpliced(index, 1, ...others), handled },
    });
    const hasNext = frames.some(
      (each) => each.kind === "transfer" && each.session === frame.session && each.delivery === frame.last + 1,
    );
    return [
      instead("left out"),
      instead("twice", frame, frame),
      ...(hasNext ? [instead("over the next delivery, too", { ...frame, last: frame.last + 1 })] : []),
      instead("not settled", { ...frame, settled: false }),
      ...frames
        .filter((each) => each.kind === "transfer" && each.session === frame.session && each.delivery === frame.first)
        .filter(() => frame.first === frame.last)
        .map((transfer) => instead("given back, and delivered again", back(frame), again(transfer), again(frame))),
      ...otherOutcomes(frame, run).map(([what, outcome]) => instead(what, { ...frame, outcome })),
      { what: `${message}, attempt ${attempt}: before its handler ended`, value: { frames, handled: later } },
    ];
  });
}

/** A delivery goes back without a failure. */
function back(frame: Disposition): Disposition {
  const outcome = { ...frame.outcome, name: "modified", deliveryFailed: false, undeliverableHere: false } as const;
  return { ...frame, outcome };
}

/** The same as the next delivery of its session. */
function again(frame: WireFrame): WireFrame {
  if (frame.kind === "transfer") return { ...frame, delivery: frame.delivery + 10_000 };
  if (frame.kind !== "disposition" || !("first" in frame)) return frame;
  return { ...frame, first: frame.first + 10_000, last: frame.last + 10_000 };
}

function otherOutcomes({ outcome, atMs }: Disposition, run: Handled): readonly (readonly [string, WireOutcome])[] {
  const plain: WireOutcome = { name: null, deliveryFailed: false, undeliverableHere: false, annotations: new Map() };
  const names = ["accepted", "rejected", "released", "modified"] as const;
  const others = names.filter((name) => name !== outcome.name);
  const { annotations } = outcome;
  const annotated = (more: string, type: string, value: unknown): WireOutcome => ({
    ...outcome,
    annotations: new Map([...annotations, [more, { type, value }]]),
  });
  const timed = annotations.get(deliveryTime);
  const dueAtMs = Number(timed?.value);
  return [
    ...others.map((name) => [`as ${name}`, { ...plain, name }] as const),
    ...(outcome.name === "modified"
      ? ([
          ["with the other delivery-failed", { ...outcome, deliveryFailed: !outcome.deliveryFailed }],
          ["with the other undeliverable-here", { ...outcome, undeliverableHere: !outcome.undeliverableHere }],
          ["with one more annotation", annotated("x-opt-body", "String", "4711")],
        ] as const)
      : []),
    ...[deliveryTime, "x-opt-dlq-failure-reason", "x-opt-dlq-original-queue"]
      .filter((name) => annotations.has(name))
      .map((name) => {
        const left = new Map([...annotations].filter(([each]) => each !== name));
        return [`without ${name}`, { ...outcome, annotations: left }] as const;
      }),
    ...(timed === undefined
      ? []
      : ([
          ["due at a time in seconds", annotated(deliveryTime, "Long", Math.ceil(dueAtMs / 1_000))],
          ["due at a timestamp", annotated(deliveryTime, "Timestamp", dueAtMs)],
          ["due at its delay", annotated(deliveryTime, "Long", dueAtMs - atMs)],
          ["due at the end of the handler", annotated(deliveryTime, "Long", run.endedAtMs)],
          ["due too late", annotated(deliveryTime, "Long", dueAtMs + 3_600_000)],
        ] as const)),
  ];
}
