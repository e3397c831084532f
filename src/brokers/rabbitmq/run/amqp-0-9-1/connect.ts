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

/** The broker reads everything that was sent on the channel before it confirms the close. */
export async function closeInOrder(connection: ChannelModel, channel: Channel): Promise<void> {
  await channel.close();
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
