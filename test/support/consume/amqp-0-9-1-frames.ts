import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The channel and the connection of a frame. Connections are numbered in the order of their arrival. */
export interface Channel091 {
  readonly connection: number;
  readonly channel: number;
}

/** A frame of AMQP 0-9-1 that opens a channel, or carries, settles or publishes a message. */
export type WireFrame091 = Channel091 &
  /** The client opens a channel, asks for confirms, or rolls its transaction back. */
  (
    | { readonly kind: "channel" | "select" | "rollback" }
    | {
        readonly kind: "deliver";
        readonly tag: number;
        readonly redelivered: boolean;
        readonly exchange: string;
        readonly routingKey: string;
      }
    | { readonly kind: "ack"; readonly tag: number; readonly multiple: boolean }
    | { readonly kind: "nack"; readonly tag: number; readonly multiple: boolean; readonly requeue: boolean }
    | { readonly kind: "reject"; readonly tag: number; readonly requeue: boolean }
    | { readonly kind: "publish"; readonly exchange: string; readonly routingKey: string; readonly mandatory: boolean }
    /** The properties of a message that the client publishes. */
    | {
        readonly kind: "properties";
        readonly expiration: string | null;
        readonly messageId: string | null;
        readonly properties: Properties091;
        /** Bytes of the body that follows. */
        readonly size: number;
        readonly atMs: number;
      }
    /** The properties of a message that the broker delivers or returns. */
    | { readonly kind: "delivered-properties"; readonly properties: Properties091; readonly size: number }
    /** A part of a delivered, returned or published message. */
    | { readonly kind: "body"; readonly side: "client" | "broker"; readonly bytes: Buffer }
    | { readonly kind: "confirmed" | "refused"; readonly tag: number; readonly multiple: boolean }
    | { readonly kind: "returned" }
  );

/** The properties of a message, by amqplib's names. Its headers are one of them. */
export type Properties091 = Readonly<Record<string, unknown>>;

/** The part of amqplib that decodes frames; its exports leave it out. */
interface Codec {
  readonly decode: (id: number, fields: Buffer) => Readonly<Record<string, unknown>>;
}

const require = createRequire(import.meta.url);
const codec = require(join(dirname(require.resolve("amqplib")), "lib", "defs.js")) as Codec;

/** Class and method in one number, as in amqplib. Source: AMQP 0-9-1, the tables of classes and methods. */
const idOf = (classId: number, methodId: number): number => classId * 65_536 + methodId;
const basic = 60;
const frameTypes = { method: 1, header: 2, body: 3 } as const;

/** Reads the frames of one connection. */
export function createFrameReader091(
  connection: number,
): (bytes: Buffer, side: "client" | "broker") => WireFrame091 | null {
  return (bytes, side) => {
    const place = { connection, channel: bytes.readUInt16BE(1) };
    const payload = bytes.subarray(7, -1);
    switch (bytes[0]) {
      case frameTypes.method:
        return methodOf(place, payload, side);
      case frameTypes.header:
        return propertiesOf(place, payload, side);
      case frameTypes.body:
        return { ...place, kind: "body", side, bytes: Buffer.from(payload) };
      default:
        return null;
    }
  };
}

function methodOf(place: Channel091, payload: Buffer, side: "client" | "broker"): WireFrame091 | null {
  const id = payload.readUInt32BE(0);
  const fields = (): Fields => codec.decode(id, payload.subarray(4)) as unknown as Fields;
  switch (id) {
    case idOf(20, 10):
      return { ...place, kind: "channel" };
    case idOf(85, 10):
      return { ...place, kind: "select" };
    case idOf(90, 30):
      return { ...place, kind: "rollback" };
    case idOf(basic, 40): {
      const { exchange, routingKey, mandatory } = fields();
      return { ...place, kind: "publish", exchange, routingKey, mandatory };
    }
    case idOf(basic, 50):
      return { ...place, kind: "returned" };
    case idOf(basic, 60): {
      const { deliveryTag: tag, redelivered, exchange, routingKey } = fields();
      return { ...place, kind: "deliver", tag, redelivered, exchange, routingKey };
    }
    case idOf(basic, 80): {
      const { deliveryTag: tag, multiple } = fields();
      return { ...place, kind: side === "broker" ? "confirmed" : "ack", tag, multiple };
    }
    case idOf(basic, 90): {
      const { deliveryTag: tag, requeue } = fields();
      return { ...place, kind: "reject", tag, requeue };
    }
    case idOf(basic, 120): {
      const { deliveryTag: tag, multiple, requeue } = fields();
      return side === "broker"
        ? { ...place, kind: "refused", tag, multiple }
        : { ...place, kind: "nack", tag, multiple, requeue };
    }
    default:
      return null;
  }
}

interface Fields {
  readonly exchange: string;
  readonly routingKey: string;
  readonly mandatory: boolean;
  readonly deliveryTag: number;
  readonly redelivered: boolean;
  readonly multiple: boolean;
  readonly requeue: boolean;
}

/** Source: AMQP 0-9-1, 2.3.5.2: class, weight, size of the body, and the properties with their flags. */
function propertiesOf(place: Channel091, payload: Buffer, side: "client" | "broker"): WireFrame091 {
  const size = Number(payload.readBigUInt64BE(4));
  const properties = defined(codec.decode(basic, payload.subarray(12)));
  if (side === "broker") return { ...place, kind: "delivered-properties", properties, size };
  const { expiration = null, messageId = null } = properties as {
    readonly expiration?: string;
    readonly messageId?: string;
  };
  return { ...place, kind: "properties", expiration, messageId, properties, size, atMs: Date.now() };
}

function defined(fields: Properties091): Properties091 {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
