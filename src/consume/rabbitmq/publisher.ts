import { randomUUID } from "node:crypto";

import type { ChannelModel, ConfirmChannel, ConsumeMessage, Options } from "amqplib";

import { waysOf } from "../../brokers/contract.ts";
import type { SettleValues } from "../adapter.ts";
import { afterMs } from "../long-timer.ts";
import type { PublishOperation } from "./contract.ts";
import { chosenMs, oneOf } from "./contract.ts";

/** Publishes copies on a channel of its own, so that one that the broker refuses does not take the deliveries down with it. */
export interface Publisher {
  /** Opens the channel that the first copy needs. */
  readonly open: () => Promise<void>;
  /**
   * Resolves when the broker has confirmed the copy.
   *
   * @throws where it returned it, refused it, closed the channel before that, or said nothing for too long
   */
  readonly publish: (message: ConsumeMessage, operation: PublishOperation, values: SettleValues) => Promise<void>;
}

/**
 * How long a copy waits to be confirmed, and how long the last of many. A quorum queue that has lost its leader confirms nothing. What it has rejected
 * for that reason is sent again inside the broker only if the channel hears of the next leader, which it may miss; then nothing that this channel
 * sends to the queue is confirmed any more. So it is sent again on another channel. As the copy before may be there after all, each waits twice as
 * long as it. Source: RabbitMQ, `rabbit_fifo_client.erl`, `rejected` without a leader, and `leader_change`.
 */
const firstConfirmMs = 30_000;
const longestConfirmMs = 1_800_000;

interface Pending {
  isReturned: boolean;
  readonly fail: (error: Error) => void;
}

interface OpenChannel {
  readonly channel: ConfirmChannel;
  /** By where they go and which message they are: the broker returns a copy before it confirms it, and names only these. */
  readonly pending: Map<string, Set<Pending>>;
  /** Takes no more copies, and is closed when it waits for none. */
  isRetired: boolean;
  /** Has the next copy sent on another channel. */
  readonly leave: () => void;
}

/** What is remembered of a message while its copy is tried. */
interface Copied {
  /**
   * The message's own, or one that is made up: the same one however often a copy of this delivery is sent. The next delivery of a message without an
   * id gets another: whatever stays the same from one to the other is the same in two messages of one content, and one of them would be taken for a
   * repeat.
   */
  readonly id: string;
  confirmWithinMs: number;
}

interface State {
  readonly connection: ChannelModel;
  readonly refused: () => void;
  readonly copied: WeakMap<ConsumeMessage, Copied>;
  opening: Promise<OpenChannel> | null;
  /** The broker is short of memory or disk, and reads nothing from this connection until it says so. */
  isBlocked: boolean;
}

/** @param refused called where the broker does not let the user publish */
export function createPublisher(connection: ChannelModel, refused: () => void): Publisher {
  const state: State = { connection, refused, copied: new WeakMap(), opening: null, isBlocked: false };
  connection.on("blocked", () => {
    state.isBlocked = true;
  });
  connection.on("unblocked", () => {
    state.isBlocked = false;
  });
  return {
    open: async () => {
      await openChannel(state);
    },
    publish: async (message, contracted, values) => {
      const operation = oneOf(waysOf(contracted));
      const open = await (state.opening ?? openChannel(state));
      const copy = state.copied.get(message) ?? remember(state, message);
      const { exchange, routingKey } = operation;
      const confirmation = confirmed(open, [exchange, routingKey, copy.id].join("\n"), (done) =>
        open.channel.publish(
          exchange,
          routingKey,
          message.content,
          copyOptions(message, copy.id, operation, values),
          done,
        ),
      );
      const cancel = whenLate(state, copy, () => {
        open.isRetired = true;
        open.leave();
        confirmation.fail(new Error("the broker said nothing about the copy for too long"));
      });
      await confirmation.done.finally(cancel);
    },
  };
}

function remember({ copied }: State, message: ConsumeMessage): Copied {
  const own: unknown = message.properties.messageId;
  const copy: Copied = {
    id: typeof own === "string" && own !== "" ? own : randomUUID(),
    confirmWithinMs: firstConfirmMs,
  };
  copied.set(message, copy);
  return copy;
}

/** Calls back when a copy has waited for so long. @returns what takes it back */
function whenLate(state: State, copy: Copied, late: () => void): () => void {
  let cancel = (): void => undefined;
  const wait = (): void => {
    cancel = afterMs(copy.confirmWithinMs, () => {
      // A broker that reads nothing for now has the copy among what it will read.
      if (state.isBlocked) {
        wait();
        return;
      }
      copy.confirmWithinMs = Math.min(2 * copy.confirmWithinMs, longestConfirmMs);
      late();
    });
  };
  wait();
  return () => cancel();
}

function openChannel(state: State): Promise<OpenChannel> {
  const leave = (): void => {
    if (state.opening === opening) state.opening = null;
  };
  const opening = confirmChannel(state, leave);
  state.opening = opening;
  opening.catch(leave);
  return opening;
}

async function confirmChannel({ connection, refused }: State, leave: () => void): Promise<OpenChannel> {
  const channel = await connection.createConfirmChannel();
  const pending = new Map<string, Set<Pending>>();
  let reason = new Error("the channel was closed before the copy was confirmed");
  channel.on("error", (error: Error & { readonly code?: unknown }) => {
    reason = error;
    if (error.code === 403) refused();
  });
  channel.on("close", () => {
    leave();
    for (const each of [...pending.values()].flatMap((some) => [...some])) each.fail(reason);
  });
  channel.on("return", ({ fields, properties }) => {
    const key = [fields.exchange, fields.routingKey, String(properties.messageId)].join("\n");
    for (const each of pending.get(key) ?? []) each.isReturned = true;
  });
  return { channel, pending, isRetired: false, leave };
}

/** What becomes of a copy that is sent, and a way to say that it has failed. */
function confirmed(
  open: OpenChannel,
  key: string,
  send: (done: (error: unknown) => void) => void,
): { readonly done: Promise<void>; readonly fail: (error: Error) => void } {
  const { pending } = open;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const forget = (): void => {
    const rest = pending.get(key);
    if (rest?.delete(entry) !== true) return;
    if (rest.size === 0) pending.delete(key);
    // What it may still hold for a queue without a leader goes with it.
    if (open.isRetired && pending.size === 0) open.channel.close().catch(() => undefined);
  };
  const entry: Pending = {
    isReturned: false,
    fail: (error) => {
      forget();
      reject(error);
    },
  };
  pending.set(key, (pending.get(key) ?? new Set()).add(entry));
  try {
    send((error) => {
      if (error !== null && error !== undefined) entry.fail(new Error("the broker refused the copy", { cause: error }));
      else if (entry.isReturned) entry.fail(new Error("the copy has no route: its queue is gone, or nothing is bound"));
      else {
        forget();
        resolve();
      }
    });
  } catch (cause) {
    entry.fail(cause as Error);
  }
  return { done: promise, fail: entry.fail };
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
    headers: {
      ...headers,
      ...(operation.headers === undefined ? {} : { ...operation.headers, ...values.deadLetter }),
      ...values.carried,
    },
    ...(expirationMs === null ? {} : { expiration: String(chosenMs(expirationMs, values.askedDelayMs)) }),
  };
}
