import { randomUUID } from "node:crypto";

import type { ChannelModel, ConfirmChannel, ConsumeMessage, Options } from "amqplib";

import type { SettleValues } from "../adapter.ts";
import type { PublishOperation } from "./contract.ts";
import { chosenMs } from "./contract.ts";

/** Publishes copies on a channel of its own, so that one that the broker refuses does not take the deliveries down with it. */
export interface Publisher {
  /** Resolves when the broker has confirmed the copy. @throws where it returned it, refused it, or closed the channel before that */
  readonly publish: (message: ConsumeMessage, operation: PublishOperation, values: SettleValues) => Promise<void>;
}

interface Pending {
  isReturned: boolean;
  readonly fail: (error: Error) => void;
}

interface OpenChannel {
  readonly channel: ConfirmChannel;
  /** By where they go and which message they are: the broker returns a copy before it confirms it, and names only these. */
  readonly pending: Map<string, Set<Pending>>;
}

export function createPublisher(connection: ChannelModel): Publisher {
  let opening: Promise<OpenChannel> | null = null;
  /**
   * The id that a copy gets whose message has none, by the delivery: the same one however often it is sent. The next delivery of the message has
   * another: whatever stays the same from one to the other is the same in two messages of one content, and one of these would be taken for a repeat.
   */
  const ids = new WeakMap<ConsumeMessage, string>();
  const idOf = (message: ConsumeMessage): string => {
    const own: unknown = message.properties.messageId;
    if (typeof own === "string" && own !== "") return own;
    const given = ids.get(message) ?? randomUUID();
    ids.set(message, given);
    return given;
  };
  return {
    publish: async (message, operation, values) => {
      opening ??= openChannel(connection, () => {
        opening = null;
      }).catch((cause: unknown) => {
        opening = null;
        throw cause;
      });
      const open = await opening;
      const id = idOf(message);
      await confirmed(open, [operation.exchange, operation.routingKey, id].join("\n"), (done) =>
        open.channel.publish(
          operation.exchange,
          operation.routingKey,
          message.content,
          copyOptions(message, id, operation, values),
          done,
        ),
      );
    },
  };
}

async function openChannel(connection: ChannelModel, onClosed: () => void): Promise<OpenChannel> {
  const channel = await connection.createConfirmChannel();
  const pending = new Map<string, Set<Pending>>();
  let reason = new Error("the channel was closed before the copy was confirmed");
  channel.on("error", (error) => {
    reason = error;
  });
  channel.on("close", () => {
    onClosed();
    for (const each of [...pending.values()].flatMap((some) => [...some])) each.fail(reason);
  });
  channel.on("return", ({ fields, properties }) => {
    const key = [fields.exchange, fields.routingKey, String(properties.messageId)].join("\n");
    for (const each of pending.get(key) ?? []) each.isReturned = true;
  });
  return { channel, pending };
}

function confirmed(
  { pending }: OpenChannel,
  key: string,
  send: (done: (error: unknown) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const forget = (): void => {
      const rest = pending.get(key);
      rest?.delete(entry);
      if (rest?.size === 0) pending.delete(key);
    };
    const entry: Pending = {
      isReturned: false,
      fail: (error) => {
        forget();
        reject(error);
      },
    };
    const same = pending.get(key) ?? new Set();
    pending.set(key, same.add(entry));
    try {
      send((error) => {
        if (error !== null && error !== undefined)
          entry.fail(new Error("the broker refused the copy", { cause: error }));
        else if (entry.isReturned)
          entry.fail(new Error("the copy has no route: its queue is gone, or nothing is bound"));
        else {
          forget();
          resolve();
        }
      });
    } catch (cause) {
      entry.fail(cause as Error);
    }
  });
}

function copyOptions(
  message: ConsumeMessage,
  messageId: string,
  operation: PublishOperation,
  values: SettleValues,
): Options.Publish {
  const { properties, fields } = message;
  const headers: Record<string, unknown> = { ...properties.headers };
  for (const name of operation.removeHeaders) delete headers[name];
  const keep = operation.copyRoutingKeyTo;
  if (keep !== undefined && !(keep in headers)) headers[keep] = fields.routingKey;
  const { expirationMs } = operation;
  return {
    contentType: properties.contentType as string,
    contentEncoding: properties.contentEncoding as string,
    deliveryMode: properties.deliveryMode as number,
    priority: properties.priority as number,
    correlationId: properties.correlationId as string,
    replyTo: properties.replyTo as string,
    timestamp: properties.timestamp as number,
    type: properties.type as string,
    appId: properties.appId as string,
    messageId,
    mandatory: operation.mandatory,
    // Only what the contract puts on a dead letter has headers of its own.
    headers: operation.headers === undefined ? headers : { ...headers, ...operation.headers, ...values.deadLetter },
    ...(expirationMs === null ? {} : { expiration: String(chosenMs(expirationMs, values.askedDelayMs)) }),
  };
}
