/** A frame of AMQP 0-9-1 that settles or publishes something, as it went by. */
export type WireFrame091 =
  | { readonly kind: "deliver"; readonly tag: number; readonly redelivered: boolean }
  | { readonly kind: "ack"; readonly tag: number; readonly multiple: boolean }
  | { readonly kind: "nack"; readonly tag: number; readonly multiple: boolean; readonly requeue: boolean }
  | { readonly kind: "reject"; readonly tag: number; readonly requeue: boolean }
  | { readonly kind: "publish"; readonly exchange: string; readonly routingKey: string; readonly mandatory: boolean }
  | {
      readonly kind: "properties";
      readonly expiration: string | null;
      readonly messageId: string | null;
      readonly atMs: number;
    }
  | { readonly kind: "confirmed" | "refused" | "returned" };

const basicClass = 60;

export function readFrame091(bytes: Buffer, side: "client" | "broker"): WireFrame091 | null {
  const payload = bytes.subarray(7, -1);
  if (bytes[0] === 2 && side === "client") return { kind: "properties", ...propertiesIn(payload), atMs: Date.now() };
  if (bytes[0] !== 1 || payload.readUInt16BE(0) !== basicClass) return null;
  const tag = (): number => Number(payload.readBigUInt64BE(4));
  const bits = (): number => payload[12] ?? 0;
  switch (payload.readUInt16BE(2)) {
    case 40: {
      const [exchange, next] = shortText(payload, 6);
      const [routingKey, end] = shortText(payload, next);
      return { kind: "publish", exchange, routingKey, mandatory: ((payload[end] ?? 0) & 1) === 1 };
    }
    case 50:
      return { kind: "returned" };
    case 60: {
      const [, next] = shortText(payload, 4);
      return { kind: "deliver", tag: Number(payload.readBigUInt64BE(next)), redelivered: payload[next + 8] === 1 };
    }
    case 80:
      return side === "broker" ? { kind: "confirmed" } : { kind: "ack", tag: tag(), multiple: (bits() & 1) === 1 };
    case 90:
      return { kind: "reject", tag: tag(), requeue: (bits() & 1) === 1 };
    case 120:
      if (side === "broker") return { kind: "refused" };
      return { kind: "nack", tag: tag(), multiple: (bits() & 1) === 1, requeue: (bits() & 2) === 2 };
    default:
      return null;
  }
}

function shortText(payload: Buffer, at: number): readonly [string, number] {
  const length = payload[at] ?? 0;
  return [payload.toString("utf8", at + 1, at + 1 + length), at + 1 + length];
}

/** The properties of a content header come in the order of their flags. Source: AMQP 0-9-1, 4.2.6.1 and `basic`. */
function propertiesIn(payload: Buffer): { readonly expiration: string | null; readonly messageId: string | null } {
  const flags = payload.readUInt16BE(12);
  let at = 14;
  const text = (bit: number): string | null => {
    if ((flags & (1 << bit)) === 0) return null;
    const [value, end] = shortText(payload, at);
    at = end;
    return value;
  };
  const skip = (bit: number, length: () => number): void => {
    if ((flags & (1 << bit)) !== 0) at += length();
  };
  text(15);
  text(14);
  skip(13, () => 4 + payload.readUInt32BE(at));
  skip(12, () => 1);
  skip(11, () => 1);
  text(10);
  text(9);
  return { expiration: text(8), messageId: text(7) };
}
