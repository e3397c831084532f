import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

import { sleep } from "../deployed-system.ts";
import { createFrameReader091 } from "./amqp-0-9-1-frames.ts";
import type { WireFrame091 } from "./amqp-0-9-1-frames.ts";
import { createFrameReader10 } from "./amqp-1-0-frames.ts";
import type { WireFrame10 } from "./amqp-1-0-frames.ts";

/** A frame that delivers, settles or publishes something, as it went by. */
export type WireFrame = WireFrame091 | WireFrame10;

/** Stands between a client and a broker: sees each frame, and can cut the connection before it goes on. */
export interface AmqpProxy {
  /** The URL of the broker, by way of the proxy. */
  readonly url: string;
  readonly frames: WireFrame[];
  /** Where connections lead that are made from now on, as with a name that a load balancer stands behind. */
  brokerUrl: string;
  /** Decides about each of these frames; `cut` ends the connection instead of passing it on, and bytes go on in its place. */
  onFrame: (frame: WireFrame, bytes: Buffer) => "pass" | "cut" | Buffer;
  /** Holds back what the broker confirms, so that a client that does not wait is seen not to wait. */
  confirmDelayMs: number;
  /** While true, nobody is let in. */
  refuses: boolean;
  /** While true, nothing goes through any more, and nobody is told. */
  isSilent: boolean;
  /** How many greetings and frames of the broker go through on each connection that is made from now on; then it says nothing more. */
  passes: number;
  /** How many connections have come so far that something was held back. */
  held: number;
  readonly cutAll: () => void;
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

export async function startAmqpProxy(brokerUrl: string): Promise<AmqpProxy> {
  const sockets = new Set<Socket>();
  let connected = 0;
  const server = createServer((client) => {
    if (proxy.refuses) {
      client.destroy();
      return;
    }
    const { port, hostname } = new URL(proxy.brokerUrl);
    const broker = connect(Number(port), hostname);
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
    connected += 1;
    const language: Language = {
      isAmqp10: false,
      read091: createFrameReader091(connected),
      read10: createFrameReader10(),
    };
    relay(proxy, { from: client, to: broker, side: "client", language });
    relay(proxy, { from: broker, to: client, side: "broker", language });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(brokerUrl);
  url.port = String((server.address() as AddressInfo).port);
  const proxy: AmqpProxy = {
    url: url.href,
    frames: [],
    brokerUrl,
    onFrame: () => "pass",
    confirmDelayMs: 0,
    refuses: false,
    isSilent: false,
    passes: Infinity,
    held: 0,
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

/** What is spoken on a connection: its client begins with it. */
interface Language {
  isAmqp10: boolean;
  readonly read091: ReturnType<typeof createFrameReader091>;
  readonly read10: ReturnType<typeof createFrameReader10>;
}

interface Way {
  readonly from: Socket;
  readonly to: Socket;
  readonly side: "client" | "broker";
  readonly language: Language;
}

/** Passes on whole frames, in their order, and the greetings between them. */
function relay(proxy: AmqpProxy, { from, to, side, language }: Way): void {
  let rest = Buffer.alloc(0);
  let turn = Promise.resolve();
  const most = side === "broker" ? proxy.passes : Infinity;
  let passed = 0;
  from.on("data", (data: Buffer) => {
    if (proxy.isSilent) return;
    rest = Buffer.concat([rest, data]);
    for (let length = pieceLength(rest, language); length <= rest.length; length = pieceLength(rest, language)) {
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      passed += 1;
      if (passed === most + 1) proxy.held += 1;
      if (passed > most) continue;
      turn = passOn(turn, isGreeting(bytes) ? null : readFrame(bytes, side, language), bytes);
    }
  });
  const passOn = async (before: Promise<void>, frame: WireFrame | null, bytes: Buffer): Promise<void> => {
    await before;
    const isConfirm = frame?.kind === "confirmed" || frame?.kind === "refused" || frame?.kind === "returned";
    if (isConfirm && proxy.confirmDelayMs > 0) await sleep(proxy.confirmDelayMs);
    if (from.destroyed || to.destroyed) return;
    const decision = frame === null ? "pass" : proxy.onFrame(frame, bytes);
    if (decision === "cut") {
      from.destroy();
      to.destroy();
      return;
    }
    if (frame !== null) proxy.frames.push(frame);
    to.write(decision === "pass" ? bytes : decision);
  };
}

function readFrame(bytes: Buffer, side: Way["side"], { isAmqp10, read091, read10 }: Language): WireFrame | null {
  return isAmqp10 ? read10(bytes, side) : read091(bytes, side);
}

/** No frame is so long, or of a type, that it would begin like this. */
function isGreeting(bytes: Buffer): boolean {
  return bytes.toString("latin1", 0, 4) === "AMQP";
}

/** How long the first greeting or frame is; infinite where that cannot be said yet. */
function pieceLength(bytes: Buffer, language: Language): number {
  if (bytes.length < 8) return Infinity;
  if (isGreeting(bytes)) {
    language.isAmqp10 = bytes[5] === 1;
    return 8;
  }
  return language.isAmqp10 ? bytes.readUInt32BE(0) : bytes.readUInt32BE(3) + 8;
}
