import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

import { sleep } from "../deployed-system.ts";

/** A frame of AMQP 0-9-1 that settles or publishes something, as it went by. */
export type WireFrame =
  | { readonly kind: "deliver"; readonly tag: number; readonly redelivered: boolean }
  | { readonly kind: "ack"; readonly tag: number; readonly multiple: boolean }
  | { readonly kind: "nack"; readonly tag: number; readonly multiple: boolean; readonly requeue: boolean }
  | { readonly kind: "reject"; readonly tag: number; readonly requeue: boolean }
  | { readonly kind: "publish"; readonly exchange: string; readonly routingKey: string; readonly mandatory: boolean }
  | { readonly kind: "properties"; readonly expiration: string | null }
  | { readonly kind: "confirmed" | "refused" | "returned" };

/** Stands between a client and a broker: sees each frame, and can cut the connection before it goes on. */
export interface AmqpProxy {
  /** The URL of the broker, by way of the proxy. */
  readonly url: string;
  readonly frames: WireFrame[];
  /** Decides about each frame that settles or publishes; `cut` ends the connection instead of passing it on. */
  onFrame: (frame: WireFrame) => "pass" | "cut";
  /** Holds back what the broker confirms, so that a client that does not wait is seen not to wait. */
  confirmDelayMs: number;
  /** While true, nobody is let in. */
  refuses: boolean;
  /** While true, nothing goes through any more, and nobody is told. */
  isSilent: boolean;
  readonly cutAll: () => void;
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

export async function startAmqpProxy(brokerUrl: string): Promise<AmqpProxy> {
  const target = new URL(brokerUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (proxy.refuses) {
      client.destroy();
      return;
    }
    const broker = connect(Number(target.port), target.hostname);
    for (const socket of [client, broker]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        broker.destroy();
      });
    }
    relay(proxy, client, broker, "client");
    relay(proxy, broker, client, "broker");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(brokerUrl);
  url.port = String((server.address() as AddressInfo).port);
  const proxy: AmqpProxy = {
    url: url.href,
    frames: [],
    onFrame: () => "pass",
    confirmDelayMs: 0,
    refuses: false,
    isSilent: false,
    cutAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    connections: () => sockets.size / 2,
    close: async () => {
      proxy.cutAll();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}

const amqp091 = Buffer.from([0, 0, 9, 1]);

/** Passes on whole frames, in their order; of another protocol than AMQP 0-9-1 just the bytes. The eight bytes that a client begins with are no frame. */
function relay(proxy: AmqpProxy, from: Socket, to: Socket, side: "client" | "broker"): void {
  let rest = Buffer.alloc(0);
  // A broker answers a client of AMQP 1.0 with a greeting of its own.
  let isAmqp091 = true;
  let isGreeted = side === "broker";
  let isFirst = true;
  let turn = Promise.resolve();
  from.on("data", (data: Buffer) => {
    if (proxy.isSilent) return;
    rest = Buffer.concat([rest, data]);
    if (side === "broker" && isFirst && rest.length >= 4) {
      isAmqp091 = rest.toString("latin1", 0, 4) !== "AMQP";
      isFirst = false;
    }
    if (!isGreeted && rest.length >= 8) {
      isAmqp091 = rest.subarray(4, 8).equals(amqp091);
      to.write(rest.subarray(0, 8));
      rest = rest.subarray(8);
      isGreeted = true;
    }
    if (isGreeted && !isAmqp091) {
      to.write(rest);
      rest = Buffer.alloc(0);
    }
    while (isGreeted && rest.length >= 7 && rest.length >= rest.readUInt32BE(3) + 8) {
      const length = rest.readUInt32BE(3) + 8;
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      const frame = readFrame(bytes, side);
      turn = passOn(turn, frame, bytes);
    }
  });
  const passOn = async (before: Promise<void>, frame: WireFrame | null, bytes: Buffer): Promise<void> => {
    await before;
    const isConfirm = frame?.kind === "confirmed" || frame?.kind === "refused" || frame?.kind === "returned";
    if (isConfirm && proxy.confirmDelayMs > 0) await sleep(proxy.confirmDelayMs);
    if (from.destroyed || to.destroyed) return;
    if (frame !== null && proxy.onFrame(frame) === "cut") {
      from.destroy();
      to.destroy();
      return;
    }
    if (frame !== null) proxy.frames.push(frame);
    to.write(bytes);
  };
}

const basicClass = 60;

function readFrame(bytes: Buffer, side: "client" | "broker"): WireFrame | null {
  const payload = bytes.subarray(7, -1);
  if (bytes[0] === 2 && side === "client") return { kind: "properties", expiration: expirationIn(payload) };
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
function expirationIn(payload: Buffer): string | null {
  const flags = payload.readUInt16BE(12);
  let at = 14;
  const skipText = (): void => {
    [, at] = shortText(payload, at);
  };
  const has = (bit: number): boolean => (flags & (1 << bit)) !== 0;
  if (has(15)) skipText();
  if (has(14)) skipText();
  if (has(13)) at += 4 + payload.readUInt32BE(at);
  if (has(12)) at += 1;
  if (has(11)) at += 1;
  if (has(10)) skipText();
  if (has(9)) skipText();
  return has(8) ? shortText(payload, at)[0] : null;
}
