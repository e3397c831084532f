import type { Duplex } from "node:stream";

import amqplib from "amqplib";
import type { Channel, ChannelModel } from "amqplib";

import { atMost } from "../../../../consume/port/long-timer.ts";
import { hearErrorsWhileOpening } from "./amqplib-connection.ts";
import type { Login } from "../credentials.ts";
import { heartbeatSeconds } from "../listen.ts";
import type { RabbitmqNode } from "../nodes.ts";

/** The time limit for ending a connection that only made checks. */
const closeWithinMs = 2_000;

/**
 * @param givenUp ends the socket in any state of the connection
 * @param consumer gives the connection a name, which the broker shows to people
 */
export async function connectByAmqp091(
  { url, tls, sasl, withinMs }: RabbitmqNode,
  login: Pick<Login, "username" | "password"> | null,
  givenUp?: AbortSignal,
  consumer?: string,
): Promise<ChannelModel> {
  hearErrorsWhileOpening();
  const { plain, external } = amqplib.credentials;
  const given = sasl === "external" ? external() : login === null ? null : plain(login.username, login.password);
  const credentials = given === null ? {} : { credentials: given };
  const socket = { ...tls, ...(givenUp === undefined ? {} : { signal: givenUp }) };
  // Without noDelay a lone acknowledgement would wait for the next one.
  return amqplib.connect(withHeartbeat(url), {
    ...socket,
    ...credentials,
    ...(consumer === undefined ? {} : { clientProperties: { connection_name: `redeliver ${consumer}` } }),
    noDelay: true,
    keepAlive: true,
    timeout: withinMs,
  });
}

function withHeartbeat(text: string): string {
  const url = new URL(text);
  if (!url.searchParams.has("heartbeat")) url.searchParams.set("heartbeat", String(heartbeatSeconds));
  return url.href;
}

/** Ends a connection that has settled nothing. */
export async function endLook(connection: ChannelModel): Promise<void> {
  await atMost(closeWithinMs, connection.close());
  destroyConnection(connection);
}

/**
 * Closes a channel. amqplib waits for the broker's confirm alone, which never comes if the connection ends first.
 * Source: amqplib 2.3, `toClosing` and `toClosed` in `lib/channel.js`.
 *
 * @throws Error if the connection ends first
 */
export async function closeChannel(channel: Pick<Channel, "close" | "once">): Promise<void> {
  // The event comes after a confirm, too, and in the same turn.
  const ended = new Promise<boolean>((resolve) => channel.once("close", () => setImmediate(resolve, false)));
  const isConfirmed = await Promise.race([channel.close().then(() => true), ended]);
  // amqplib says the same of an answer that does not come.
  if (!isConfirmed) throw new Error("Channel ended with its connection");
}

/** The broker reads everything that was sent on the channel before it confirms the close. */
export async function closeInOrder(connection: ChannelModel, channel: Channel): Promise<void> {
  await closeChannel(channel);
  await connection.close();
}

/** Fields of a connection that amqplib's types leave out: its socket, and the agreed heartbeat in seconds. */
export function innerOf(connection: ChannelModel): { readonly stream: Duplex; readonly heartbeat: number } {
  return connection.connection as unknown as { readonly stream: Duplex; readonly heartbeat: number };
}

/** Ends the socket. A silent peer never answers, and a half-open socket keeps the process alive. */
export function destroyConnection(connection: ChannelModel): void {
  const { stream } = innerOf(connection);
  // Only an error makes amqplib notice, and end its heartbeats.
  stream.destroy(new Error("the consumer has ended the connection"));
}
