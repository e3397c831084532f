import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";

import rhea, { type Connection, type EventContext } from "rhea";

import { echo, OnePerTurn } from "./link.ts";
import type { Namespace } from "./namespace.ts";
import { openReceivingLink } from "./receiving-link.ts";
import { isRequestAddress, openRequestLink } from "./request-links.ts";
import { openSendingLink } from "./sending-link.ts";

export interface AmqpServer {
  readonly port: number;
  /** The most clients that were connected at a time. */
  readonly mostConnections: () => number;
  /** Cuts every connection, like a network failure. Locks of the clients remain. */
  readonly dropConnections: () => void;
  readonly stop: () => Promise<void>;
}

/** The most unsettled deliveries of a client on one session. */
const mostDeliveries = 65_536;

/** AMQP 1.0 as Service Bus speaks it, on plain TCP. @param port 0 for any free one */
export async function startAmqpServer(namespace: Namespace, port: number): Promise<AmqpServer> {
  const container = rhea.create_container({ id: "servicebus-emulator" });
  container.sasl_server_mechanisms.enable_anonymous();
  const sockets = new Set<Socket>();
  let mostConnections = 0;
  const turns = new WeakMap<Connection, OnePerTurn>();
  const turnsOf = (connection: Connection): OnePerTurn => {
    const known = turns.get(connection) ?? new OnePerTurn(connection);
    turns.set(connection, known);
    return known;
  };
  container.on("receiver_open", ({ receiver, connection }: EventContext) => {
    if (receiver === undefined) return;
    const open = isRequestAddress(receiver.target.address ?? "") ? openRequestLink : openSendingLink;
    open(receiver, namespace, turnsOf(connection));
  });
  container.on("sender_open", ({ sender, connection }: EventContext) => {
    if (sender === undefined) return;
    if (isRequestAddress(sender.source.address ?? "")) echo(sender);
    else openReceivingLink(sender, namespace, turnsOf(connection));
  });
  // Tests end their clients' connections without a close.
  for (const event of ["disconnected", "connection_error", "session_error", "sender_error", "receiver_error"])
    container.on(event, () => undefined);
  const server = container.listen({
    host: "127.0.0.1",
    port,
    autoaccept: false,
    treat_modified_as_released: false,
    session_buffer_size: { outgoing: mostDeliveries, incoming: mostDeliveries },
  } as unknown as Parameters<typeof container.listen>[0]) as Server;
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    mostConnections = Math.max(mostConnections, sockets.size);
    socket.on("close", () => sockets.delete(socket));
  });
  await once(server, "listening");
  const dropConnections = (): void => {
    // Without an error rhea does not notice, and the broker would keep giving messages to a lost client.
    for (const socket of sockets) socket.destroy(new Error("the connection was cut"));
  };
  return {
    port: (server.address() as AddressInfo).port,
    mostConnections: () => mostConnections,
    dropConnections,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      dropConnections();
      await closed;
    },
  };
}
