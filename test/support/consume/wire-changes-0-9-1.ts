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
  const deliveries = readWire091(frames).deliveries.filter(isLookedAt);
  const actions = deliveries.flatMap((delivery) => delivery.made.map((made) => ({ delivery, made })));
  return [
    ...actions.flatMap(({ delivery, made: { kind, index } }) => {
      // A copy of a message without an id may have any id.
      const hasId = delivery.properties["messageId"] !== undefined;
      if (kind === "copy") return copyChanges(frames, index).filter(({ what }) => hasId || !what.includes(anotherId));
      const frame = frames[index] as Settlement;
      return [
        ...otherSettlements(frame).map((each) => at(`${each.kind} in place of ${frame.kind}`, index, each)),
        ...changesOf(frame).map(({ what, value }) => at(`${frame.kind}${what}`, index, value)),
        ...(frame.kind === "ack" && leavesOlderOnes(frames, index)
          ? [at(withOlderOnes, index, { ...frame, multiple: true })]
          : []),
        at(`${frame.kind} left out`, index),
        at(`${frame.kind} twice`, index, frame, frame),
      ];
    }),
    ...deliveries.flatMap(({ made }) => tooSoon(frames, made)),
    ...deliveries.flatMap((delivery) => copiedToDeadQueue(frames, delivery)),
  ];
}

/** The change that needs deliveries which were still unsettled. */
export const withOlderOnes = "an acknowledgement of all older deliveries";

function leavesOlderOnes(frames: readonly WireFrame[], index: number): boolean {
  const { connection, channel, tag } = frames[index] as Settlement;
  const ofChannel = frames.flatMap((frame, at) =>
    "tag" in frame && frame.connection === connection && frame.channel === channel && frame.tag < tag
      ? [{ kind: frame.kind, tag: frame.tag, at }]
      : [],
  );
  const isSettlement = (kind: string): boolean => ["ack", "nack", "reject"].includes(kind);
  return ofChannel.some(
    (delivered) =>
      delivered.kind === "deliver" &&
      ofChannel.some(({ kind, tag: own, at }) => isSettlement(kind) && own === delivered.tag && at > index),
  );
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

/** Left out, sent twice, or with another field, property or body. */
function copyChanges(frames: readonly WireFrame[], begin: number): readonly Change<readonly WireFrame[]>[] {
  const parts = new Map<number, WireFrame091>(partsOf(frames, begin));
  const last = Math.max(...parts.keys());
  const twice = frames.flatMap((frame, index) => (index === last ? [frame, ...parts.values()] : [frame]));
  return [
    ...[...parts].flatMap(([part, frame]) =>
      changesOf(frame).map(({ what, value }) => ({
        what: `${frame.kind}${what} (frame ${part})`,
        value: frames.with(part, value),
      })),
    ),
    { what: `copy left out (frame ${begin})`, value: frames.filter((_, index) => !parts.has(index)) },
    { what: `copy twice (frame ${begin})`, value: twice },
  ];
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
  const others = frame.kind === "properties" ? [...withoutOneHeader(frame), ...otherProperties(frame)] : [];
  return [...onePlaceChangesOf<WireFrame091>(frame, { skip }), ...others];
}

const anotherId = ": another message id";

type Properties = Extract<WireFrame091, { readonly kind: "properties" }>;

function otherProperties({ properties, ...frame }: Properties): readonly Change<WireFrame091>[] {
  const { messageId: _, ...withoutId } = properties;
  const headers = { ...(properties["headers"] as object | undefined), CC: ["order.copied"] };
  const expiration = String(Number(properties["expiration"] ?? 0) + 600_000);
  return [
    { what: ": no message id", value: { ...frame, properties: withoutId } },
    { what: anotherId, value: { ...frame, properties: { ...properties, messageId: "another" } } },
    { what: ": a later expiration", value: { ...frame, properties: { ...properties, expiration } } },
    { what: ": a CC", value: { ...frame, properties: { ...properties, headers } } },
  ];
}

function withoutOneHeader(frame: Properties): readonly Change<WireFrame091>[] {
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

/** A settlement that follows a copy, as if the consumer had not waited for the confirm, or had begun with it. */
function tooSoon(frames: readonly WireFrame[], made: Delivery091["made"]): readonly Change<readonly WireFrame[]>[] {
  return made.flatMap((copy, position) => {
    const next = made[position + 1];
    if (copy.kind !== "copy" || copy.confirmedAt === null || next === undefined) return [];
    const settlement = frames[next.index] as WireFrame;
    const others = frames.filter((_, index) => index !== next.index);
    const movedTo = (place: string, at: number): Change<readonly WireFrame[]> => ({
      what: `the settlement before the ${place} (frame ${next.index})`,
      value: others.toSpliced(at, 0, settlement),
    });
    return [movedTo("confirm", copy.confirmedAt), movedTo("copy", copy.index)];
  });
}

/** A message that needs no copy goes to the dead queue all the same. */
function copiedToDeadQueue(
  frames: readonly WireFrame[],
  { made: [first, ...others], body, properties: { messageId } }: Delivery091,
): readonly Change<readonly WireFrame[]>[] {
  if (first?.kind !== "settled" || others.length > 0) return [];
  const { connection, channel } = frames[first.index] as Settlement;
  const bytes = Buffer.from(body);
  const copy: readonly WireFrame091[] = [
    { connection, channel, kind: "publish", exchange: "shop.dead", routingKey: "shop.billing", mandatory: true },
    {
      connection,
      channel,
      kind: "properties",
      expiration: null,
      messageId: null,
      properties: { messageId },
      size: bytes.length,
      atMs: 0,
    },
    { connection, channel, kind: "body", side: "client", bytes },
  ];
  return [{ what: `a copy before it (frame ${first.index})`, value: frames.toSpliced(first.index, 0, ...copy) }];
}
