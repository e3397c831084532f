import type { Duplex } from "node:stream";

import rhea from "rhea";
import type { Connection, ConnectionOptions } from "rhea";

import { atMost } from "../../../../consume/port/long-timer.ts";
import { virtualHostIn } from "../connection.ts";
import type { Login } from "../credentials.ts";
import { heartbeatSeconds } from "../listen.ts";
import type { RabbitmqNode } from "../nodes.ts";

const silently = "the broker cut the connection without a word";

/** RabbitMQ gives a known user without access to the virtual host only this error. Measured on 4.3.6. */
class NotAllowedError extends Error {
  override readonly name = "NotAllowedError";
  readonly condition = "amqp:not-allowed";
}

/**
 * The events by which rhea reports the end of a connection. An error thrown while rhea reads a frame becomes one of the
 * last two, and without a listener it would end the process.
 */
const ends = ["connection_error", "connection_close", "disconnected", "protocol_error", "error"] as const;

/**
 * Connects with the same URL as AMQP 0-9-1, because RabbitMQ speaks both protocols on one port.
 *
 * @param lost called when an accepted connection ends, perhaps more than once
 * @param givenUp ends the waiting for the broker
 */
export function connectByAmqp10(
  { url: text, tls, sasl, withinMs }: RabbitmqNode,
  login: Pick<Login, "username" | "password"> | null,
  lost: (cause: unknown) => void,
  givenUp: AbortSignal | null = null,
): Promise<Connection> {
  if (givenUp?.aborted === true) return Promise.reject(givenUp.reason as Error);
  const url = new URL(text);
  const isTls = url.protocol === "amqps:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const user: object =
    sasl === "external"
      ? { enable_sasl_external: true }
      : {
          username: login?.username ?? (decodeURIComponent(url.username) || "guest"),
          password: login?.password ?? (decodeURIComponent(url.password) || "guest"),
        };
  return new Promise((resolve, reject) => {
    const connection = rhea.create_container().connect({
      host,
      port: url.port === "" ? (isTls ? 5_671 : 5_672) : Number(url.port),
      // RabbitMQ takes the virtual host from the hostname field of the open performative.
      hostname: `vhost:${virtualHostIn(text)}`,
      ...user,
      // rhea considers a peer gone after twice that time.
      idle_time_out: Number(url.searchParams.get("heartbeat") ?? heartbeatSeconds) * 1_000,
      tcp_no_delay: true,
      // The consumer reconnects by itself: deliveries of the old connection cannot be settled on a new one.
      reconnect: false,
      // An IP address cannot be a server name. rhea still compares the certificate with the host.
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

/** Ends a connection. It does so in order if the time suffices, and by force if not. */
export async function endConnection(connection: Connection, withinMs: number): Promise<void> {
  if (withinMs > 0) await atMost(withinMs, closed(connection));
  connection.removeAllListeners();
  // Errors of a connection that we end have no reader, so they are ignored.
  for (const name of ends) connection.on(name, () => undefined);
  // A silent peer never answers, and a half-open socket keeps the process alive. Heartbeats end only with a socket that
  // rhea itself ends.
  const { socket, abort_socket: abort } = connection as unknown as Internals;
  if (socket === undefined) return;
  abort.call(connection, socket);
  // rhea removes its listeners, and an error of the same turn may still come.
  socket.on("error", () => undefined);
}

/** True if the broker has accepted the user and the password, or the token. */
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
