import type { Channel, ConsumeMessage } from "amqplib";

import { inTime } from "../../../../consume/port/long-timer.ts";

/** Takes deliveries of one queue on one channel. */
export type Taking = ReturnType<typeof createTaking>;

interface TakingInput {
  readonly channel: Channel;
  readonly queue: string;
  /** The most messages in hand, in any case. */
  readonly concurrency: number;
  readonly acceptsWithinMs: number;
  readonly late: () => Error;
  readonly delivered: (message: ConsumeMessage) => void;
  /** The broker has ended a consumer, or has refused another one. */
  readonly lost: (cause: unknown) => void;
}

interface State extends TakingInput {
  /** The open AMQP consumers, each with its prefetch and its messages in hand. */
  readonly consumers: Map<string, { readonly prefetch: number; held: number }>;
  /** The messages in hand that came through cancelled consumers. */
  former: number;
  /** The number to take at a time. Zero while it pauses. */
  most: number;
  /** When the broker last gave a message, or was last asked for one. */
  movedAtMs: number;
  /** The number of consumers so far, for their names. */
  begun: number;
  cancelling: Promise<unknown>;
  growing: Promise<void> | null;
}

/**
 * RabbitMQ counts the prefetch for each consumer, and a cancelled consumer keeps its messages in hand. So the next one
 * would get as many again. Instead the next one gets only the free number, and another joins it when the older messages
 * are settled. Source: RabbitMQ, "Consumer Prefetch"; quorum queues know no prefetch for a whole channel.
 */
export function createTaking(input: TakingInput) {
  const nothing = Promise.resolve();
  const state: State = {
    ...input,
    consumers: new Map(),
    former: 0,
    most: 0,
    movedAtMs: 0,
    begun: 0,
    cancelling: nothing,
    growing: null,
  };
  return {
    /**
     * Takes up to this many at a time from now on. Resolves after the broker has confirmed, or at once if the messages in
     * hand leave no room for more.
     */
    resume: (most: number) => {
      state.most = most;
      return grow(state);
    },
    /**
     * Takes nothing more. The broker learns of it before any later settlement, unless it still owes an answer to
     * `resume`.
     *
     * @returns true if the broker has cancelled a consumer. The queue does that after the settlements before
     */
    pause: async () => {
      state.most = 0;
      const isAsked = state.consumers.size > 0;
      cancelAll(state);
      await state.cancelling;
      return isAsked;
    },
    /** Call it for each settled delivery. */
    settled: ({ fields }: ConsumeMessage) => {
      const consumer = state.consumers.get(String(fields.consumerTag));
      if (consumer === undefined) state.former -= 1;
      else consumer.held -= 1;
      if (freeIn(state) > 0) grow(state).catch(state.lost);
    },
    /** The time since the broker last gave a message or was asked for one, while it may give one. Otherwise 0. */
    hungryMs: () => {
      const isGiven = [...state.consumers.values()].some(({ prefetch, held }) => held < prefetch);
      return isGiven ? performance.now() - state.movedAtMs : 0;
    },
  };
}

function cancelAll(state: State): void {
  const tags = [...state.consumers.keys()];
  for (const { held } of state.consumers.values()) state.former += held;
  state.consumers.clear();
  state.cancelling = Promise.all([state.cancelling, ...tags.map((tag) => state.channel.cancel(tag))]);
  // Callers that wait for it also get the error.
  state.cancelling.catch(() => undefined);
}

/**
 * The number of messages to ask the broker for. A small number is not worth another consumer, unless there is none or
 * no older message is in hand.
 */
function freeIn({ consumers, former, most, concurrency }: State): number {
  const taking = [...consumers.values()].reduce((sum, { prefetch }) => sum + prefetch, 0);
  const missing = most - taking;
  const free = Math.min(missing, concurrency - taking - former);
  return taking === 0 || former === 0 || free >= missing / 2 ? free : 0;
}

function grow(state: State): Promise<void> {
  state.growing ??= addConsumers(state).then(
    () => {
      state.growing = null;
      // Another call may have asked for more in the meantime.
      return freeIn(state) > 0 ? grow(state) : undefined;
    },
    (cause: unknown) => {
      state.growing = null;
      throw cause;
    },
  );
  return state.growing;
}

async function addConsumers(state: State): Promise<void> {
  const { channel, queue, consumers } = state;
  for (;;) {
    await cancelled(state);
    const prefetch = freeIn(state);
    if (prefetch <= 0) return;
    state.begun += 1;
    const consumerTag = `redeliver-${state.begun}`;
    // Before the broker knows of it, because deliveries may come with its answer.
    consumers.set(consumerTag, { prefetch, held: 0 });
    const limited = channel.prefetch(prefetch);
    // This is the default priority of consumers. A stream knows no priority and refuses it. That keeps streams out,
    // which would give every message to each consumer and keep it. It works even if the user may not compare the
    // queue's arguments.
    const options = { priority: 0, consumerTag };
    const consuming = channel.consume(queue, (message) => take(state, consumerTag, message), options);
    await inTime(state.acceptsWithinMs, Promise.all([limited, consuming]), state.late, null);
    state.movedAtMs = performance.now();
  }
}

/**
 * Waits until the broker has cancelled all consumers, so that the messages that they still send are counted. In the
 * meantime, more of them may be cancelled.
 */
async function cancelled(state: State): Promise<void> {
  for (let awaited: unknown = null; awaited !== state.cancelling;) {
    awaited = state.cancelling;
    await awaited;
  }
}

function take(state: State, consumerTag: string, message: ConsumeMessage | null): void {
  if (message === null) {
    state.lost(
      new Error(
        `the broker has ended the consumer of ${state.queue}: the queue is gone, or a message was held for too long`,
      ),
    );
    return;
  }
  state.movedAtMs = performance.now();
  const consumer = state.consumers.get(consumerTag);
  if (consumer === undefined) state.former += 1;
  else consumer.held += 1;
  state.delivered(message);
}
