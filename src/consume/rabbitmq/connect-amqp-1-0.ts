import type { Duplex } from "node:stream";

import rhea from "rhea";
import type { Connection, ConnectionOptions } from "rhea";

import { atMost } from "../long-timer.ts";
import { virtualHostIn } from "./connection.ts";
import type { Login } from "./credentials.ts";
import type { RabbitmqNode } from "./nodes.ts";

/** A peer that says nothing for this long is gone, unless the URL says otherwise. */
const heartbeatSeconds = 30;

const silently = "the broker cut the connection without a word";

/** RabbitMQ says no more than this to a user whom it knows and who may not enter the virtual host. Measured on 4.3.6. */
class NotAllowedError extends Error {
  override readonly name = "NotAllowedError";
  readonly condition = "amqp:not-allowed";
}

/** Whatever rhea has to say of the end of a connection. What is thrown while a frame is read becomes one of the last two; with nobody to hear it, it would end the process. */
const ends = ["connection_error", "connection_close", "disconnected", "protocol_error", "error"] as const;

/**
 * Connects with the same URL as AMQP 0-9-1: RabbitMQ takes both protocols on one port.
 *
 * @param lost told when the connection ends that the broker has let in, more than once perhaps
 * @param givenUp ends the waiting for the broker
 */
export function connectByAmqp10(
  { url: text, tls, withinMs }: RabbitmqNode,
  login: Pick<Login, "username" | "password"> | null,
  lost: (cause: unknown) => void,
  givenUp: AbortSignal | null = null,
): Promise<Connection> {
  if (givenUp?.aborted === true) return Promise.reject(givenUp.reason as Error);
  const url = new URL(text);
  const isTls = url.protocol === "amqps:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve, reject) => {
    const connection = rhea.create_container().connect({
      host,
      port: url.port === "" ? (isTls ? 5_671 : 5_672) : Number(url.port),
      // RabbitMQ takes the virtual host from the hostname field of the open performative.
      hostname: `vhost:${virtualHostIn(text)}`,
      username: login?.username ?? (decodeURIComponent(url.username) || "guest"),
      password: login?.password ?? (decodeURIComponent(url.password) || "guest"),
      idle_time_out: Number(url.searchParams.get("heartbeat") ?? heartbeatSeconds) * 1_000,
      tcp_no_delay: true,
      // A consumer connects again by itself: deliveries of the old connection cannot be settled on a new one.
      reconnect: false,
      // No name of a server is an address; its certificate is compared with the host all the same.
      ...(isTls ? { transport: "tls", servername: /^[\d.]+$|:/.test(host) ? "" : host, ...tls } : {}),
    } as ConnectionOptions);
    let isOpen = false;
    const timer = setTimeout(() => fail(new Error("the broker does not let the client in")), withinMs);
    const giveUp = (): void => fail(givenUp?.reason);
    givenUp?.addEventListener("abort", giveUp);
    const heard = (): void => {
      clearTimeout(timer);
      givenUp?.removeEventListener("abort", giveUp);
    };
    const fail = (cause: unknown): void => {
      heard();
      void endConnection(connection, 0);
      reject(cause as Error);
    };
    const over = (said: Error | { readonly error?: unknown }): void => {
      const cause = said instanceof Error ? said : (said.error ?? connection.error);
      if (isOpen) lost(cause ?? new Error("the connection was cut"));
      else fail(cause ?? (isLetIn(connection) ? new NotAllowedError(silently) : new Error(silently)));
    };
    for (const name of ends) connection.on(name, over);
    connection.on("connection_open", () => {
      isOpen = true;
      heard();
      resolve(connection);
    });
  });
}

/** Ends a connection, in an orderly way if that is done within the time, and in any case. */
export async function endConnection(connection: Connection, withinMs: number): Promise<void> {
  if (withinMs > 0) await atMost(withinMs, closed(connection));
  connection.removeAllListeners();
  // What is said of a connection that we end ourselves is said to nobody.
  for (const name of ends) connection.on(name, () => undefined);
  // A peer that has gone silent never answers, and a socket that is left half open keeps the process alive.
  // Only a socket that rhea itself ends takes its heartbeats with it.
  const { socket, abort_socket: abort } = connection as unknown as Internals;
  if (socket === undefined) return;
  abort.call(connection, socket);
  // rhea takes its listeners away, and an error of the same turn is still to come.
  socket.on("error", () => undefined);
}

/** Whether the broker has taken the user and the password, or the token. */
function isLetIn(connection: Connection): boolean {
  return (connection as unknown as Internals).sasl_transport?.transport.read_complete === true;
}

interface Internals {
  readonly socket?: Duplex;
  readonly sasl_transport?: { readonly transport: { readonly read_complete: boolean } };
  readonly abort_socket: (socket: Duplex) => void;
}

function closed(connection: Connection): Promise<void> {
  return new Promise((resolve) => {
    connection.once("connection_close", () => resolve());
    connection.once("disconnected", () => resolve());
    connection.close();
  });
}
