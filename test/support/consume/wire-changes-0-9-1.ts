import type { WireFrame } from "./amqp-proxy.ts";
import type { WireFrame091 } from "./amqp-0-9-1-frames.ts";
import { type Change, onePlaceChangesOf } from "./one-place-changes.ts";
import { type Delivery091, readWire091 } from "./read-wire-0-9-1.ts";

/**
 * Fields that a contract does not mention: the place and time of a frame, copies for other readers, and the error texts
 * of a dead letter. `multiple` makes a difference only with older unsettled deliveries.
 */
const skip = [
  "kind",
  "connection",
  "channel",
  "atMs",
  "size",
  "expiration",
  "messageId",
  "multiple",
  "dlq-failure-timestamp",
  "dlq-exception-stack-trace-summary",
  "dlq-failing-consumer-info",
];

/**
 * The recorded frames with one wrong action of a client, for each action on some deliveries.
 *
 * @param isLookedAt called once for each delivery; one of several alike is enough
 */
export function wireChangesOf(
  frames: readonly WireFrame[],
  isLookedAt: (delivery: Delivery091) => boolean,
): readonly Change<readonly WireFrame[]>[] {
  const at = (what: string, index: number, ...instead: readonly WireFrame[]): Change<readonly WireFrame[]> => ({
    what: `${what} (frame ${index})`,
    value: [...frames.slice(0, index), ...instead, ...frames.slice(index + 1)],
  });
  const made = readWire091(frames)
    .deliveries.filter(isLookedAt)
    .map((delivery) => delivery.made);
  return [
    ...made.flat().flatMap(({ kind, index }) => {
      if (kind === "copy")
        return partsOf(frames, index).flatMap(([part, frame]) =>
          changesOf(frame).map(({ what, value }) => at(`${frame.kind}${what}`, part, value)),
        );
      const frame = frames[index] as Settlement;
      return [
        ...otherSettlements(frame).map((each) => at(`${each.kind} in place of ${frame.kind}`, index, each)),
        ...changesOf(frame).map(({ what, value }) => at(`${frame.kind}${what}`, index, value)),
        at(`${frame.kind} left out`, index),
        at(`${frame.kind} twice`, index, frame, frame),
      ];
    }),
    ...made.flatMap((each) => tooSoon(frames, each)),
  ];
}

/** The same, with one frame for each acknowledgement. So a later one with `multiple` does not hide a missing one. */
export function oneByOne(frames: readonly WireFrame[]): readonly WireFrame[] {
  const unsettled = new Map<string, Set<number>>();
  return frames.flatMap((frame): readonly WireFrame[] => {
    if (!("tag" in frame) || frame.kind === "confirmed" || frame.kind === "refused") return [frame];
    const key = `${frame.connection} ${frame.channel}`;
    const open = unsettled.get(key) ?? new Set();
    unsettled.set(key, open);
    if (frame.kind === "deliver") {
      open.add(frame.tag);
      return [frame];
    }
    const isMultiple = frame.kind === "ack" && frame.multiple;
    const tags = isMultiple ? [...open].filter((tag) => tag <= frame.tag) : [frame.tag];
    for (const tag of tags) open.delete(tag);
    return isMultiple ? tags.map((tag) => ({ ...frame, tag, multiple: false })) : [frame];
  });
}

/** The method of a publication, its properties and its body. */
function partsOf(frames: readonly WireFrame[], begin: number): readonly (readonly [number, WireFrame091])[] {
  const { connection, channel } = frames[begin] as WireFrame091;
  const own = frames.flatMap((frame, index) =>
    index >= begin && "connection" in frame && frame.connection === connection && frame.channel === channel
      ? [[index, frame] as const]
      : [],
  );
  const ofClient = own.filter(([, frame]) => isPublished(frame));
  const next = ofClient.findIndex(([index, { kind }]) => index > begin && kind === "publish");
  return ofClient.slice(0, next === -1 ? undefined : next);
}

function isPublished(frame: WireFrame091): boolean {
  return frame.kind === "body" ? frame.side === "client" : frame.kind === "publish" || frame.kind === "properties";
}

function changesOf(frame: WireFrame091): readonly Change<WireFrame091>[] {
  if (frame.kind === "body") {
    const bytes = Buffer.from(frame.bytes.toString().toUpperCase());
    return [{ what: ": another body", value: { ...frame, bytes } }];
  }
  const removed = frame.kind === "properties" ? withoutOneHeader(frame) : [];
  return [...onePlaceChangesOf<WireFrame091>(frame, { skip }), ...removed];
}

function withoutOneHeader(
  frame: Extract<WireFrame091, { readonly kind: "properties" }>,
): readonly Change<WireFrame091>[] {
  const headers = (frame.properties["headers"] ?? {}) as Readonly<Record<string, unknown>>;
  return Object.keys(headers)
    .filter((name) => !name.startsWith("dlq-") || name === "dlq-original-queue" || name === "dlq-failure-reason")
    .map((name) => {
      const { [name]: _, ...rest } = headers;
      return { what: `: no header ${name}`, value: { ...frame, properties: { ...frame.properties, headers: rest } } };
    });
}

type Settlement = Extract<WireFrame091, { readonly kind: "ack" | "nack" | "reject" }>;

function otherSettlements(frame: Extract<WireFrame091, { readonly tag: number }>): readonly Settlement[] {
  const { connection, channel, tag } = frame;
  const place = { connection, channel, tag };
  const all: readonly Settlement[] = [
    { ...place, kind: "ack", multiple: false },
    { ...place, kind: "nack", multiple: false, requeue: true },
    { ...place, kind: "nack", multiple: false, requeue: false },
    { ...place, kind: "reject", requeue: true },
    { ...place, kind: "reject", requeue: false },
  ];
  return all.filter(({ kind }) => kind !== frame.kind);
}

/** A settlement that follows a copy, as if the consumer had not waited for the confirm. */
function tooSoon(frames: readonly WireFrame[], made: Delivery091["made"]): readonly Change<readonly WireFrame[]>[] {
  return made.flatMap((copy, position) => {
    const next = made[position + 1];
    if (copy.kind !== "copy" || copy.confirmedAt === null || next === undefined) return [];
    const settlement = frames[next.index] as WireFrame;
    const others = frames.filter((_, index) => index !== next.index);
    const what = `the settlement before the confirm (frame ${next.index})`;
    return [{ what, value: [...others.slice(0, copy.confirmedAt), settlement, ...others.slice(copy.confirmedAt)] }];
  });
}
