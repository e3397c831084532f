import { randomUUID } from "node:crypto";

import type { ChannelModel, ConfirmChannel, ConsumeMessage } from "amqplib";

import { drawnWay } from "../../../../contract/interpret.ts";
import type { SettleValues } from "../../../../consume/port/adapter.ts";
import { afterMs, inTime } from "../../../../consume/port/long-timer.ts";
import { destroyConnection } from "./connect.ts";
import type { PublishOperation } from "../../compile/contract.ts";
import { copyOptions } from "./copy-options.ts";

/**
 * Publishes copies on a separate connection: a broker that is short of memory or disk stops reading from publishers,
 * and would not see acknowledgements there. Each exchange has its own channel, so that a missing exchange costs the
 * others no copies. Source: RabbitMQ, "Memory Alarms", "Publishers and consumers on separate connections".
 */
export type Publisher = ReturnType<typeof createPublisher>;

interface PublisherInput {
  /** @param over aborted when the connection is no longer wanted */
  readonly connect: (over: AbortSignal) => Promise<ChannelModel>;
  /** Called if the broker does not let the user publish. */
  readonly refused: () => void;
  /** The broker reads no copies for now, with its reason. Null when it reads them again. */
  readonly blocked: (reason: string | null) => void;
}

/**
 * The first and the longest wait for a copy's confirm. A quorum queue without a leader confirms nothing. The broker
 * later repeats rejected copies only if the channel hears of the next leader, which it may miss. Then the queue
 * confirms nothing more on this channel, so the consumer sends the copy again on another one. The earlier copy may be
 * there after all, so each waits twice as long as the one before. Source: RabbitMQ, `rabbit_fifo_client.erl`,
 * `rejected` without a leader, and `leader_change`.
 */
const firstConfirmMs = 10_000;
const longestConfirmMs = 1_800_000;

/** The time limit for opening a connection or a channel. */
const openWithinMs = 10_000;

class NotOpenError extends Error {
  override readonly name = "NotOpenError";

  constructor() {
    super(`the broker has opened no channel for copies within ${openWithinMs / 1_000} s`);
  }
}

const closedError = (): Error => new Error("the consumer has ended the connection");

interface Pending {
  isReturned: boolean;
  readonly fail: (error: Error) => void;
}

interface OpenChannel {
  readonly channel: ConfirmChannel;
  /** Keyed by target and message id: the broker returns a copy before it confirms it, and names only these. */
  readonly pending: Map<string, Set<Pending>>;
  /** True if it accepts no more copies, and closes when it waits for none. */
  isRetired: boolean;
  /** Makes the next copy go through another channel. */
  readonly leave: () => void;
}

/** The state of a message while its copy is tried. */
interface Copied {
  /**
   * The message's own id, or a made-up one that all copies of this delivery share. The next delivery of a message
   * without an id gets another id. Any value that stays the same between deliveries is also the same in two messages
   * with equal content. Then one of them would pass for a repeat.
   */
  readonly id: string;
  confirmWithinMs: number;
}

interface State extends PublisherInput {
  readonly copied: WeakMap<ConsumeMessage, Copied>;
  /** By exchange. */
  readonly channels: Map<string, Promise<OpenChannel>>;
  connecting: Promise<ChannelModel> | null;
  /** Why the last connection was lost. */
  cause: unknown;
  isBlocked: boolean;
  /** When the broker last began to read again. */
  unblockedAtMs: number;
  readonly closed: AbortController;
}

/** If the connection is lost, the next copy makes a new one. */
export function createPublisher(input: PublisherInput) {
  const state: State = {
    ...input,
    copied: new WeakMap(),
    channels: new Map(),
    connecting: null,
    cause: null,
    isBlocked: false,
    unblockedAtMs: -Infinity,
    closed: new AbortController(),
  };
  return {
    /** Opens the connection and the channels for the first copies. */
    open: async (exchanges: readonly string[]) =>
      void (await Promise.all(exchanges.map((exchange) => channelFor(state, exchange)))),
    /**
     * Resolves when the broker has confirmed the copy.
     *
     * @throws if the broker returns or refuses it, closes the channel first, or does not answer in time
     */
    publish: async (message: ConsumeMessage, contracted: PublishOperation, values: SettleValues) => {
      const operation = drawnWay(contracted, Math.random());
      const { exchange, routingKey } = operation;
      const open = await channelFor(state, exchange);
      const copy = state.copied.get(message) ?? remember(state, message);
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
    /** Gives the broker a new password for the connection. */
    updateSecret: async (password: string) => {
      const model = await state.connecting;
      await model?.updateSecret(Buffer.from(password), "the one before is about to expire");
    },
    close: () => {
      state.closed.abort(closedError());
      state.connecting?.then(destroyConnection, () => undefined);
    },
  };
}

function connected(state: State): Promise<ChannelModel> {
  if (state.closed.signal.aborted) return Promise.reject(closedError());
  state.connecting ??= connect(state);
  return state.connecting;
}

async function connect(state: State): Promise<ChannelModel> {
  const leave = (): void => {
    state.connecting = null;
    state.channels.clear();
    block(state, null);
  };
  try {
    state.cause = null;
    const model = await state.connect(state.closed.signal);
    model.on("error", (error) => {
      state.cause = error;
    });
    model.on("close", leave);
    model.on("blocked", (reason) => block(state, reason));
    model.on("unblocked", () => block(state, null));
    if (state.closed.signal.aborted) destroyConnection(model);
    return model;
  } catch (cause) {
    leave();
    throw cause;
  }
}

function block(state: State, reason: string | null): void {
  if (state.isBlocked === (reason !== null)) return;
  state.isBlocked = reason !== null;
  if (reason === null) state.unblockedAtMs = performance.now();
  state.blocked(reason);
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

/** Calls back when a copy has waited this long. @returns a function that cancels the call */
function whenLate(state: State, copy: Copied, late: () => void): () => void {
  let cancel = (): void => undefined;
  const waitFor = (ms: number): void => {
    cancel = afterMs(ms, () => {
      // A broker that does not read now will read the copy later, and one that has just begun may not have reached it.
      const restMs = state.isBlocked
        ? copy.confirmWithinMs
        : copy.confirmWithinMs - (performance.now() - state.unblockedAtMs);
      if (restMs > 0) {
        waitFor(restMs);
        return;
      }
      copy.confirmWithinMs = Math.min(2 * copy.confirmWithinMs, longestConfirmMs);
      late();
    });
  };
  waitFor(copy.confirmWithinMs);
  return () => cancel();
}

function channelFor(state: State, exchange: string): Promise<OpenChannel> {
  const { channels } = state;
  const known = channels.get(exchange);
  if (known !== undefined) return known;
  const leave = (): void => {
    if (channels.get(exchange) === opening) channels.delete(exchange);
  };
  const opening = openInTime(state, openChannel(state, leave));
  channels.set(exchange, opening);
  opening.catch(leave);
  return opening;
}

/** A connection that opens no channel is useless. One that the broker does not read for now opens it later. */
async function openInTime(state: State, opening: Promise<OpenChannel>): Promise<OpenChannel> {
  for (;;) {
    try {
      return await inTime(openWithinMs, opening, () => new NotOpenError(), state.closed.signal);
    } catch (cause) {
      if (!(cause instanceof NotOpenError)) throw cause;
      if (state.isBlocked) continue;
      state.connecting?.then(destroyConnection, () => undefined);
      throw cause;
    }
  }
}

async function openChannel(state: State, leave: () => void): Promise<OpenChannel> {
  const model = await connected(state);
  const channel = await model.createConfirmChannel().catch((cause: unknown) => {
    throw state.cause ?? cause;
  });
  const pending = new Map<string, Set<Pending>>();
  let reason = new Error("the channel was closed before the copy was confirmed");
  channel.on("error", (error: Error & { readonly code?: unknown }) => {
    reason = error;
    if (error.code === 403) state.refused();
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

/** The outcome of a sent copy, and a function that makes it fail. */
function confirmed(open: OpenChannel, key: string, send: (done: (error: unknown) => void) => void) {
  const { pending } = open;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const forget = (): void => {
    const rest = pending.get(key);
    if (rest?.delete(entry) !== true) return;
    if (rest.size === 0) pending.delete(key);
    // Closing the channel also drops the copies that it still holds for a queue without a leader.
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
