import type { Duplex } from "node:stream";
import { connect as connectSocket } from "node:net";
import { connect as connectTls } from "node:tls";

import { inTime } from "../../../../consume/port/long-timer.ts";
import type { RabbitmqNode } from "../nodes.ts";

/** A client of AMQP 0-9-1 sends this first. Source: AMQP 0-9-1, 4.2.2. */
const header = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);
/** The key of a field table, and the mark of a long string after it. */
const versionKey = Buffer.from("\u0007versionS");
/** A greeting of RabbitMQ has some 500 bytes. A peer that sends this many without a version is no RabbitMQ. */
const longestGreeting = 16_384;

/**
 * Asks a RabbitMQ that does not speak AMQP 1.0 for its version. By AMQP 0-9-1 it names the version in its first frame,
 * `connection.start`, before any login.
 *
 * @returns null if the peer names no version
 */
export async function greetedVersion({ url: text, tls, withinMs }: RabbitmqNode): Promise<string | null> {
  const url = new URL(text);
  const isTls = url.protocol === "amqps:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? (isTls ? 5_671 : 5_672) : Number(url.port);
  const socket = isTls ? connectTls({ host, port, ...tls }) : connectSocket({ host, port });
  try {
    socket.write(header);
    const late = (): Error => new Error("the broker says nothing");
    return await inTime(withinMs, readVersion(socket), late, null);
  } catch {
    return null;
  } finally {
    socket.on("error", () => undefined);
    socket.destroy();
  }
}

async function readVersion(socket: Duplex): Promise<string | null> {
  let greeting = Buffer.alloc(0);
  for await (const bytes of socket) {
    greeting = Buffer.concat([greeting, bytes as Buffer]);
    const version = versionIn(greeting);
    if (version !== null || greeting.length > longestGreeting) return version;
  }
  return null;
}

/** Null until the whole version has come. */
function versionIn(greeting: Buffer): string | null {
  const key = greeting.indexOf(versionKey);
  const from = key + versionKey.length + 4;
  if (key === -1 || greeting.length < from) return null;
  const length = greeting.readUInt32BE(from - 4);
  return greeting.length < from + length ? null : greeting.toString("utf8", from, from + length);
}
