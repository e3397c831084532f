import { createRequire } from "node:module";

import rhea from "rhea";
import type { Message } from "rhea";

/**
 * A frame of AMQP 1.0 that opens, begins, attaches, delivers or settles. Every session has a number of its own and
 * counts its deliveries.
 */
export type WireFrame10 =
  | { readonly kind: "opened" | "attached" }
  | { readonly kind: "begun"; readonly channel: number }
  | {
      readonly kind: "transfer";
      readonly session: number;
      readonly delivery: number;
      readonly messageId: string;
      /** The number of its earlier failed deliveries. */
      readonly failed: number;
      readonly atMonotonicMs: number;
    }
  | {
      readonly kind: "disposition";
      readonly session: number;
      readonly first: number;
      readonly last: number;
      readonly settled: boolean;
      readonly outcome: WireOutcome;
      readonly atMs: number;
      readonly atMonotonicMs: number;
    };

export interface WireOutcome {
  /** Null if the frame has none. */
  readonly name: "accepted" | "rejected" | "released" | "modified" | null;
  readonly deliveryFailed: boolean;
  readonly undeliverableHere: boolean;
  readonly annotations: ReadonlyMap<string, { readonly type: string; readonly value: unknown }>;
}

/** The part of rhea that decodes frames; its types leave it out. */
interface Codec {
  readonly read_frame: (bytes: Buffer) => RheaFrame;
  readonly write_frame: (frame: object) => Buffer;
  readonly amqp_frame: (channel: number, performative: object) => object;
  readonly close: (fields: object) => object;
}

interface RheaFrame {
  readonly channel: number;
  readonly payload?: Buffer;
  readonly performative?: Performative;
}

interface Performative {
  readonly remote_channel?: number | null;
  readonly delivery_id?: number;
  readonly more?: boolean | null;
  readonly first?: number;
  readonly last?: number | null;
  readonly settled?: boolean | null;
  readonly state?: object | null;
}

const codec = createRequire(import.meta.url)("rhea/lib/frames.js") as Codec;
const message = rhea.message as unknown as {
  readonly decode: (bytes: Buffer) => Message;
  readonly unwrap_outcome: (state: object) => object;
};

/** The sessions of all connections. */
let begun = 0;

/** Reads the frames of one connection, both sides of it. */
export function createFrameReader10(): (bytes: Buffer, side: "client" | "broker") => WireFrame10 | null {
  // Each side chooses its channel numbers, and reuses the number of an ended session.
  const sessions = { client: new Map<number, number>(), broker: new Map<number, number>() };
  return (bytes, side) => {
    const { channel, performative, payload } = codec.read_frame(bytes);
    if (performative === undefined) return null;
    const session = sessions[side].get(channel) ?? -1;
    switch (String(performative.constructor)) {
      case "begin#11":
        if (side === "broker") {
          sessions.broker.set(channel, sessions.client.get(performative.remote_channel ?? -1) ?? -1);
          return null;
        }
        begun += 1;
        sessions.client.set(channel, begun);
        return { kind: "begun", channel };
      case "open#10":
        return side === "broker" ? { kind: "opened" } : null;
      case "attach#12":
        return side === "broker" ? { kind: "attached" } : null;
      case "transfer#14":
        return side === "broker" ? transferOf(performative, payload, session) : null;
      case "disposition#15":
        return side === "client" ? dispositionOf(performative, session) : null;
      default:
        return null;
    }
  };
}

function transferOf(
  { delivery_id: delivery, more }: Performative,
  payload: Buffer | undefined,
  session: number,
): WireFrame10 {
  if (more === true || delivery === undefined || payload === undefined)
    throw new Error("the messages of these tests fit into one frame");
  const { message_id: messageId, delivery_count: failed } = message.decode(payload);
  return {
    kind: "transfer",
    session,
    delivery,
    messageId: String(messageId),
    failed: failed ?? 0,
    atMonotonicMs: performance.now(),
  };
}

function dispositionOf({ first = -1, last, settled, state }: Performative, session: number): WireFrame10 {
  const outcome = outcomeOf(state ?? null);
  return {
    kind: "disposition",
    session,
    first,
    last: last ?? first,
    settled: settled === true,
    outcome,
    atMs: Date.now(),
    atMonotonicMs: performance.now(),
  };
}

/** An outcome of rhea. Its fields are null if the frame has none. The annotations are compared with their types. */
interface RheaOutcome {
  readonly constructor: { readonly composite_type?: WireOutcome["name"] };
  readonly delivery_failed?: boolean | null;
  readonly undeliverable_here?: boolean | null;
  readonly value: readonly (TypedList | null | undefined)[];
}

interface TypedList {
  readonly value: readonly { readonly type: { readonly name: string }; readonly value: unknown }[] | null;
}

function outcomeOf(state: object | null): WireOutcome {
  if (state === null) return { name: null, deliveryFailed: false, undeliverableHere: false, annotations: new Map() };
  const outcome = message.unwrap_outcome(state) as RheaOutcome;
  const items = outcome.value[2]?.value ?? [];
  const annotations = new Map<string, { readonly type: string; readonly value: unknown }>();
  for (let index = 0; index + 1 < items.length; index += 2) {
    const item = items[index + 1];
    annotations.set(String(items[index]?.value), { type: item?.type.name ?? "", value: item?.value });
  }
  return {
    name: outcome.constructor.composite_type ?? null,
    deliveryFailed: outcome.delivery_failed === true,
    undeliverableHere: outcome.undeliverable_here === true,
    annotations,
  };
}

/** The frame with which a broker closes a connection with an error. */
export function closeFrame10(condition: string): Buffer {
  return codec.write_frame(codec.amqp_frame(0, codec.close({ error: { condition } })));
}

/** The broker's open frame with another number for the highest channel. */
export function withChannelMax(bytes: Buffer, channelMax: number): Buffer {
  const { channel, performative } = codec.read_frame(bytes);
  return codec.write_frame(codec.amqp_frame(channel, Object.assign(performative ?? {}, { channel_max: channelMax })));
}
