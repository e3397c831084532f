import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

import { sleep } from "../deployed-system.ts";
import { createFrameReader091, type WireFrame091 } from "./amqp-0-9-1-frames.ts";
import { createFrameReader10, type WireFrame10 } from "./amqp-1-0-frames.ts";

/** A frame that delivers, settles or publishes a message. */
export type WireFrame = WireFrame091 | WireFrame10;

/**
 * Stands between a client and a broker. It sees each frame, and can cut the connection before it passes the frame on.
 */
export interface AmqpProxy {
  /** The URL of the broker through the proxy. */
  readonly url: string;
  readonly frames: WireFrame[];
  /** The destination of new connections, like the name of a load balancer. */
  brokerUrl: string;
  /**
   * Decides about each of these frames. `cut` ends the connection instead of passing the frame on. Bytes replace the
   * frame.
   */
  onFrame: (frame: WireFrame, bytes: Buffer) => "pass" | "cut" | Buffer;
  /** Delays the broker's confirms, so that a client that does not wait reveals itself. */
  confirmDelayMs: number;
  /** While true, the proxy accepts no connection. */
  refuses: boolean;
  /** While true, the proxy passes nothing on, and tells no side. */
  isSilent: boolean;
  /** The number of the broker's greetings and frames that pass on each new connection. After that it is silent. */
  passes: number;
  /** The number of connections that have reached the limit. */
  held: number;
  readonly cutAll: () => void;
  /**
   * Silences the connections that are open now without telling either side, like a firewall that has forgotten them.
   */
  readonly silenceAll: () => void;
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

export async function startAmqpProxy(brokerUrl: string): Promise<AmqpProxy> {
  const sockets = new Set<Socket>();
  const silenced = new WeakSet<Socket>();
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
    const isSilent = (): boolean => proxy.isSilent || silenced.has(client);
    relay(proxy, { from: client, to: broker, side: "client", language, isSilent });
    relay(proxy, { from: broker, to: client, side: "broker", language, isSilent });
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
    silenceAll: () => {
      for (const socket of sockets) silenced.add(socket);
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

/** The protocol of a connection. Its client's first bytes name it. */
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
  readonly isSilent: () => boolean;
}

/** Passes on whole frames, in their order, and the greetings between them. */
function relay(proxy: AmqpProxy, { from, to, side, language, isSilent }: Way): void {
  let rest = Buffer.alloc(0);
  let turn = Promise.resolve();
  const most = side === "broker" ? proxy.passes : Infinity;
  let passed = 0;
  from.on("data", (data: Buffer) => {
    if (isSilent()) return;
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

/** No frame has a length or type that would look like this beginning. */
function isGreeting(bytes: Buffer): boolean {
  return bytes.toString("latin1", 0, 4) === "AMQP";
}

/** The length of the first greeting or frame; infinite if it is still unknown. */
function pieceLength(bytes: Buffer, language: Language): number {
  if (bytes.length < 8) return Infinity;
  if (isGreeting(bytes)) {
    language.isAmqp10 = bytes[5] === 1;
    return 8;
  }
  return language.isAmqp10 ? bytes.readUInt32BE(0) : bytes.readUInt32BE(3) + 8;
}
