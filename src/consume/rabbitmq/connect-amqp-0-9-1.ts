import type { Duplex } from "node:stream";

import amqplib from "amqplib";
import type { Channel, ChannelModel } from "amqplib";

import { atMost } from "../long-timer.ts";
import type { Login } from "./credentials.ts";
import type { RabbitmqNode } from "./nodes.ts";

/** How long a connection that only looked may take to end. */
const closeWithinMs = 2_000;

/** @param givenUp ends the socket, whatever the connection has come to */
export async function connectByAmqp091(
  { url, tls, withinMs }: RabbitmqNode,
  login: Pick<Login, "username" | "password"> | null,
  givenUp?: AbortSignal,
): Promise<ChannelModel> {
  const credentials = login === null ? {} : { credentials: amqplib.credentials.plain(login.username, login.password) };
  const socket = { ...tls, ...(givenUp === undefined ? {} : { signal: givenUp }) };
  // Without noDelay a lone acknowledgement would wait for the next one.
  return amqplib.connect(url, { ...socket, ...credentials, noDelay: true, keepAlive: true, timeout: withinMs });
}

/** Ends a connection on which nothing was settled. */
export async function endLook(connection: ChannelModel): Promise<void> {
  await atMost(closeWithinMs, connection.close());
  destroyConnection(connection);
}

/** The broker has read what was sent on the channel before it answers that it is closed. */
export async function closeInOrder(connection: ChannelModel, channel: Channel): Promise<void> {
  await channel.close();
  await connection.close();
}

/** Ends the socket: a peer that has gone silent never answers, and a socket that is left half open keeps the process alive. */
export function destroyConnection(connection: ChannelModel): void {
  const { stream } = connection.connection as unknown as { readonly stream: Duplex };
  // With an error amqplib notices, and ends its heartbeats.
  stream.destroy(new Error("the consumer has ended the connection"));
}
