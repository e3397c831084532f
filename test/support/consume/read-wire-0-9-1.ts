import type { WireFrame } from "./amqp-proxy.ts";
import type { Properties091, WireFrame091 } from "./amqp-0-9-1-frames.ts";

/** A delivered or published message. */
export interface Content091 {
  readonly routingKey: string;
  readonly properties: Properties091;
  readonly body: string;
}

/** An action of a client, and the frame that showed it. */
export type Made091 =
  | {
      readonly kind: "settled";
      readonly operation: "basic.ack" | "basic.nack" | "basic.reject";
      /** Null for an acknowledgement. */
      readonly requeue: boolean | null;
      readonly index: number;
    }
  | Copy091;

export interface Copy091 extends Content091 {
  readonly kind: "copy";
  readonly exchange: string;
  readonly mandatory: boolean;
  /** True if its channel confirms publications. */
  readonly isToBeConfirmed: boolean;
  readonly index: number;
  /** The frame that confirmed it; null for none. */
  confirmedAt: number | null;
  isReturned: boolean;
}

export interface Delivery091 extends Content091 {
  readonly exchange: string;
  readonly redelivered: boolean;
  readonly index: number;
  /** The actions on it, in order. */
  readonly made: Made091[];
}

export interface Wire091 {
  readonly deliveries: readonly Delivery091[];
  /** Actions that concern no delivery, in words. */
  readonly strays: readonly string[];
}

type Of<Kind extends WireFrame091["kind"]> = Extract<WireFrame091, { readonly kind: Kind }>;

/** A method, followed by its properties and its body. */
interface Begun {
  readonly method: Of<"deliver" | "publish" | "returned">;
  readonly index: number;
  properties: Properties091;
  missing: number;
  readonly parts: Buffer[];
}

interface ChannelState {
  /** Both sides send methods of their own on one channel. */
  readonly begun: { client: Begun | null; broker: Begun | null };
  readonly byTag: Map<number, Delivery091>;
  readonly unsettled: Map<number, Delivery091>;
  isConfirming: boolean;
  readonly published: Copy091[];
}

interface Found {
  readonly deliveries: Delivery091[];
  readonly copies: Set<Copy091>;
  readonly strays: string[];
}

/**
 * Assembles the frames of AMQP 0-9-1: for every delivery the actions on it. A settlement with `multiple` counts for
 * each unsettled delivery of its channel up to the tag. A copy names no delivery. It belongs to the last earlier
 * delivery with the same body or the same message id.
 */
export function readWire091(frames: readonly WireFrame[]): Wire091 {
  const channels = new Map<string, ChannelState>();
  const found: Found = { deliveries: [], copies: new Set(), strays: [] };
  frames.forEach((frame, index) => {
    if (!("connection" in frame)) return;
    const key = `${frame.connection} ${frame.channel}`;
    const state = channels.get(key) ?? freshChannel();
    channels.set(key, frame.kind === "channel" ? freshChannel() : state);
    read(state, found, frame, index);
  });
  for (const copy of found.copies) attribute(copy, found);
  for (const { made } of found.deliveries) made.sort((one, other) => one.index - other.index);
  return found;
}

function read(state: ChannelState, found: Found, frame: WireFrame091, index: number): void {
  switch (frame.kind) {
    case "channel":
      return;
    case "select":
      state.isConfirming = true;
      return;
    case "rollback":
      for (const copy of state.published) found.copies.delete(copy);
      return;
    case "deliver":
    case "publish":
    case "returned":
      state.begun[frame.kind === "publish" ? "client" : "broker"] = {
        method: frame,
        index,
        properties: {},
        missing: 0,
        parts: [],
      };
      return;
    case "properties":
    case "delivered-properties": {
      const begun = state.begun[frame.kind === "properties" ? "client" : "broker"];
      if (begun === null) return;
      begun.properties = frame.properties;
      begun.missing = frame.size;
      if (begun.missing === 0) end(state, found, begun);
      return;
    }
    case "body": {
      const begun = state.begun[frame.side];
      if (begun === null) return;
      begun.parts.push(frame.bytes);
      begun.missing -= frame.bytes.length;
      if (begun.missing <= 0) end(state, found, begun);
      return;
    }
    case "confirmed":
      confirm(state, frame, index);
      return;
    case "refused":
      return;
    case "ack":
    case "nack":
    case "reject":
      settle(state, found, frame, index);
      return;
    default:
      frame satisfies never;
  }
}

function end(state: ChannelState, found: Found, begun: Begun): void {
  const { method } = begun;
  if (method.kind === "deliver") deliver(state, found, method, begun);
  if (method.kind === "publish") publish(state, found, method, begun);
  if (method.kind === "returned") markReturned(state, begun);
}

function freshChannel(): ChannelState {
  return {
    begun: { client: null, broker: null },
    byTag: new Map(),
    unsettled: new Map(),
    isConfirming: false,
    published: [],
  };
}

function deliver(state: ChannelState, { deliveries }: Found, method: Of<"deliver">, begun: Begun): void {
  const { tag, redelivered, exchange, routingKey } = method;
  const delivery: Delivery091 = {
    ...contentOf(begun, routingKey),
    exchange,
    redelivered,
    index: begun.index,
    made: [],
  };
  state.byTag.set(tag, delivery);
  state.unsettled.set(tag, delivery);
  deliveries.push(delivery);
}

function contentOf({ properties, parts }: Begun, routingKey: string): Content091 {
  return { routingKey, properties, body: Buffer.concat(parts).toString() };
}

function publish(
  state: ChannelState,
  { copies }: Found,
  { exchange, routingKey, mandatory }: Of<"publish">,
  begun: Begun,
): void {
  const copy: Copy091 = {
    ...contentOf(begun, routingKey),
    kind: "copy",
    exchange,
    mandatory,
    isToBeConfirmed: state.isConfirming,
    index: begun.index,
    confirmedAt: null,
    isReturned: false,
  };
  state.published.push(copy);
  copies.add(copy);
}

function attribute(copy: Copy091, { deliveries, strays }: Found): void {
  const id = copy.properties["messageId"];
  const original = deliveries.findLast(({ body, properties, index }) => {
    const isSameId = id !== undefined && properties["messageId"] === id;
    return index < copy.index && (body === copy.body || isSameId);
  });
  if (original === undefined) strays.push(`a copy of no delivery: ${copy.body}`);
  else original.made.push(copy);
}

function markReturned({ published }: ChannelState, { properties, parts }: Begun): void {
  const body = Buffer.concat(parts).toString();
  const copy = published.find(
    (each) =>
      each.confirmedAt === null && each.body === body && each.properties["messageId"] === properties["messageId"],
  );
  if (copy !== undefined) copy.isReturned = true;
}

/** Confirms count the publications of the channel, from 1. */
function confirm(
  { published }: ChannelState,
  { tag, multiple }: { readonly tag: number; readonly multiple: boolean },
  index: number,
): void {
  for (const copy of multiple ? published.slice(0, tag) : published.slice(tag - 1, tag)) copy.confirmedAt ??= index;
}

function settle(state: ChannelState, { strays }: Found, frame: Of<"ack" | "nack" | "reject">, index: number): void {
  const isMultiple = frame.kind !== "reject" && frame.multiple;
  const own = state.byTag.get(frame.tag);
  if (own === undefined) strays.push(`${frame.kind} of nothing, tag ${frame.tag}`);
  // For a settled delivery it is a second settlement.
  const others = isMultiple ? [...state.unsettled].filter(([tag]) => tag < frame.tag) : [];
  const covered = [...others.map(([, delivery]) => delivery), ...(own === undefined ? [] : [own])];
  const requeue = frame.kind === "ack" ? null : frame.requeue;
  for (const delivery of covered)
    delivery.made.push({ kind: "settled", operation: `basic.${frame.kind}`, requeue, index });
  for (const [tag, delivery] of state.unsettled) if (covered.includes(delivery)) state.unsettled.delete(tag);
}
