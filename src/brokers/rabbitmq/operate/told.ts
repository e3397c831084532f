import type { ChannelModel } from "amqplib";

import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import { refused } from "../../../diagnostics/render.ts";
import type { OperatingConnection } from "../../../operate/port.ts";
import { connectByAmqp091 } from "../run/amqp-0-9-1/connect.ts";
import { virtualHostIn } from "../run/connection.ts";
import { connectToOne } from "../run/nodes.ts";
import { isLocked, missing, takenAlone } from "../run/queue-refusals.ts";
import { noConnection, noConnections } from "../run/refusals.ts";

/** A connection with its URL. */
export type RabbitmqPlace = Omit<OperatingConnection, "url" | "place"> & { readonly url: string };

/** The connection was there and is lost. */
export class LostError extends Error {
  override readonly name = "LostError";
}

/** True if an answer did not come because the connection ended. Source: amqplib, `lib/channel.js`. */
export function isLoss(cause: unknown): boolean {
  const { name, message } = (cause ?? {}) as Partial<Error>;
  return name === "LostError" || name === "IllegalOperationError" || message?.startsWith("Channel ended") === true;
}

/** @throws RefusedError without the password */
export async function connectModel(connection: RabbitmqPlace): Promise<ChannelModel> {
  try {
    const { connected } = await connectToOne(connection, null, (node) => connectByAmqp091(node, null));
    // Each part of the work listens for its end.
    connected.setMaxListeners(0);
    connected.on("error", () => undefined);
    return connected;
  } catch (cause) {
    throw refused(noConnections(connection, cause));
  }
}

/** Does a piece of work, and explains the broker's refusals in our words. Any other error comes through. */
export async function toldBy<Result>(
  { url }: RabbitmqPlace,
  queue: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const { code, classId } = (cause ?? {}) as Readonly<Record<string, unknown>>;
    if (isLoss(cause)) throw refused([noConnection(url, cause)]);
    // Only errors of the broker name a class of methods.
    if (classId === undefined) throw cause;
    if (code === 404) throw refused([missing("queue", queue)]);
    if (isLocked(cause)) throw refused([takenAlone(queue)]);
    if (code === 403) {
      const message = `this user may not read from the queue ${queue} in the virtual host ${virtualHostIn(url)}`;
      const help = `rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ, with a READ that matches ${queue}`;
      throw refused([diagnostic("RD807", { path: queue, message, help })]);
    }
    throw cause;
  }
}
