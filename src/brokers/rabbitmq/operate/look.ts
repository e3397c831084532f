import type { Channel, ChannelModel, ConsumeMessage, Replies } from "amqplib";
import { setTimeout } from "node:timers/promises";

import type { Looked, Visit } from "../../../operate/port.ts";
import { readLetter } from "./read-letter.ts";
import { closeChannel } from "../run/amqp-0-9-1/connect.ts";
import { leaderAnswersWithinMs } from "../run/amqp-0-9-1/passed-on.ts";
import { LostError } from "./told.ts";

/** The largest prefetch of AMQP 0-9-1. Without a bound, a quorum queue gives a consumer 2,000 letters. */
const mostPrefetch = 65_535;

/** The time between two questions whether the queue has more, and the time after which an empty one has none. */
const askEveryMs = 200;
const emptyMs = 5_000;
/** The time that a queue with letters may deliver none. A queue with a single active consumer makes others wait. */
const silentMs = 30_000;
/** The time that the broker gets to put the letters back. */
export const backWithinMs = 15_000;

interface Looking {
  /** In order. Each has taken as many letters as it may, but the last. */
  readonly takers: Channel[];
  delivered: number;
  seen: number;
  /** True if the visitor wants no more. */
  isDone: boolean;
  /** The queue was deleted. */
  isCancelled: boolean;
  thrown: { readonly cause: unknown } | null;
}

/**
 * Shows the letters of a queue. It takes all of them on channels of its own, cancels the consumers, and closes the
 * channels with all of them unsettled. It keeps no letter, so its memory is constant.
 *
 * Only so they stay in order on every version, and only if it takes all of them, however few are wanted. The broker puts
 * letters back behind those that were put back before, and in front of those that nobody has taken yet. So after a first
 * look, a look at the head alone would move the head to the tail. Measured on 3.10.8, 4.0.5 and 4.3.6.
 */
export async function look(model: ChannelModel, queue: string, visit: Visit): Promise<Looked> {
  const counting = await openChannel(model);
  const { messageCount: ready, consumerCount: consumers } = await countsOf(counting, queue);
  const state: Looking = { takers: [], delivered: 0, seen: 0, isDone: false, isCancelled: false, thrown: null };
  if (ready === 0) {
    await closeChannel(counting);
    return { ready, consumers, seen: 0, isWhole: true };
  }
  const lost = lossOf(model, counting);
  await Promise.race([takeAll(model, counting, queue, state, ready, visit), lost]);
  const isWhole = state.isDone || state.delivered === ready;
  state.isDone = true;
  await Promise.race([giveBack(counting, queue, state), lost]);
  await closeChannel(counting).catch(() => undefined);
  if (state.thrown !== null) throw state.thrown.cause;
  return { ready, consumers, seen: state.seen, isWhole };
}

/** Takes as many letters as one consumer may hold, and then goes on with the next consumer. */
async function takeAll(
  model: ChannelModel,
  counting: Channel,
  queue: string,
  state: Looking,
  ready: number,
  visit: Visit,
): Promise<void> {
  while (state.delivered < ready && !state.isCancelled) {
    const until = Math.min(ready, state.delivered + mostPrefetch);
    const full = Promise.withResolvers<void>();
    const channel = await openChannel(model);
    const failed = lossOf(model, channel);
    await channel.prefetch(until - state.delivered);
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message === null) state.isCancelled = true;
      else if (state.delivered < ready) show(state, message, visit);
      if (state.isCancelled || state.delivered === until) full.resolve();
    });
    state.takers.push(channel);
    await Promise.race([full.promise, failed, quiet(counting, queue, state, until)]);
    await Promise.race([channel.cancel(consumerTag), failed]);
    if (state.delivered < until) return;
  }
}

/** Puts the letters back in order, channel by channel. */
async function giveBack(counting: Channel, queue: string, { takers, delivered }: Looking): Promise<void> {
  let expected = (await countIn(counting, queue)) ?? 0;
  for (const [index, channel] of takers.entries()) {
    await closeChannel(channel);
    expected += Math.min(mostPrefetch, delivered - index * mostPrefetch);
    await putBack(counting, queue, expected);
  }
}

/** An error of the visitor ends the look, but not before the letters are back in order. */
function show(state: Looking, message: ConsumeMessage, visit: Visit): void {
  state.delivered += 1;
  if (state.isDone) return;
  state.seen += 1;
  try {
    state.isDone = !visit(readLetter(message, state.seen));
  } catch (cause) {
    state.thrown = { cause };
    state.isDone = true;
  }
}

export async function openChannel(model: ChannelModel): Promise<Channel> {
  const channel = await model.createChannel();
  channel.on("error", () => undefined);
  return channel;
}

/** Rejects when the connection or the channel is lost. */
export function lossOf(model: ChannelModel, channel: Channel): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  channel.on("error", reject);
  model.on("close", () => reject(new LostError("the connection was lost")));
  promise.catch(() => undefined);
  return promise;
}

/** Resolves when no more letters come, because others took them or because the queue is gone. */
async function quiet(counting: Channel, queue: string, state: Looking, ready: number): Promise<void> {
  let before = -1;
  let changedAtMs = performance.now();
  while (!state.isCancelled && state.delivered < ready) {
    await setTimeout(askEveryMs);
    if (state.delivered !== before) changedAtMs = performance.now();
    before = state.delivered;
    // Deliveries that wait in the socket come before the answer.
    const left = await countIn(counting, queue);
    if (left === null) return;
    const silentForMs = performance.now() - changedAtMs;
    if (state.delivered === before && silentForMs > (left === 0 ? emptyMs : silentMs)) return;
  }
}

/** The broker puts letters back a moment after the channel has closed. The next look should find all of them. */
export async function putBack(counting: Channel, queue: string, ready: number): Promise<void> {
  const untilMs = performance.now() + backWithinMs;
  while (performance.now() < untilMs) {
    const count = await countIn(counting, queue);
    if (count === null || count >= ready) return;
    await setTimeout(20);
  }
}

/** Null if the queue is gone. */
export async function countIn(counting: Channel, queue: string): Promise<number | null> {
  try {
    return (await countsOf(counting, queue)).messageCount;
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code === 404) return null;
    throw cause;
  }
}

/** The leader of a busy broker has five seconds, and a distant broker with an empty queue costs no more than this. */
const mostAsked = 20;

/** Counts the messages that are ready in a queue, and its consumers. A zero that took long may be none. */
export async function countsOf(channel: Pick<Channel, "checkQueue">, queue: string): Promise<Replies.AssertQueue> {
  for (let asked = 1; ; asked++) {
    const askedAtMs = performance.now();
    const counts = await channel.checkQueue(queue);
    const isSure =
      counts.messageCount + counts.consumerCount > 0 || performance.now() - askedAtMs < leaderAnswersWithinMs;
    if (isSure || asked === mostAsked) return counts;
  }
}
