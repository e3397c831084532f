import type { Channel, ChannelModel, ConsumeMessage } from "amqplib";
import { setTimeout } from "node:timers/promises";

import { carryOut } from "../../../operate/carry-out.ts";
import type { Pass, Passed } from "../../../operate/port.ts";
import { closeChannel, destroyConnection } from "../run/amqp-0-9-1/connect.ts";
import { mostPassedOn } from "../run/amqp-0-9-1/passed-on.ts";
import { countIn, countsOf, lossOf, openChannel, putBack } from "./look.ts";
import { readLetter } from "./read-letter.ts";
import type { Sender } from "./send.ts";
import { LostError, isLoss } from "./told.ts";

/** The most letters whose outcome may be unknown if a connection is lost: so many may be doubled. */
export const windowLetters = 100;
/** The letters that one channel holds. Fewer letters are in memory at a time. */
const heldByChannel = 1_000;
/** No connection has more than 2,047 channels. */
const mostChannels = 1_500;
/** The time without a letter after which an empty queue has no more, and after which any queue has none. */
const emptyMs = 5_000;
const silentTimes = 6;
const askEveryMs = 10;

/** A channel with a consumer. When all the letters that it may hold stay, the next one takes over. */
interface Holder {
  readonly channel: Channel;
  /** The letters that it may hold. */
  readonly size: number;
  consumerTag: string;
  delivered: number;
  held: number;
  /** Letters that came with the answer to a question. They stay, too. */
  late: number;
  /** Letters with a copy that are not acknowledged yet. */
  readonly copied: ConsumeMessage[];
  acknowledged: number;
  /** Those of them that the queue has removed for sure. */
  removed: number;
  /** Resolves with the next delivery. */
  given: PromiseWithResolvers<void>;
  isSettling: boolean;
}

interface Taken {
  readonly holder: Holder;
  readonly message: ConsumeMessage;
}

/** Takes all letters of a queue in order, with a bounded number in memory. */
interface Intake {
  readonly holders: readonly Holder[];
  readonly answersGet: boolean;
  /** @returns null if no more come */
  readonly next: () => Promise<Taken | null>;
  /** The letter stays: it is held until the end of the pass. */
  readonly hold: (holder: Holder) => Promise<void>;
}

/** A queue with letters to move. */
export interface MovedQueue {
  readonly queue: string;
  /** Quorum queues with a single active consumer refuse `basic.get`. Source: `rabbit_fifo`, `{dequeue, _}`. */
  readonly answersGet: boolean;
}

interface Moving {
  taken: number;
  sent: number;
  stopped: string | null;
  isLost: boolean;
  readonly inFlight: Set<Promise<void>>;
  /** Ends with the next letter whose outcome is known. */
  known: PromiseWithResolvers<void>;
  /** Why acknowledgements cannot reach the queue any more. */
  failed: { readonly cause: unknown } | null;
}

/**
 * Sends letters of a queue to other queues. It takes all letters, for the reason that `look` gives, and holds those that
 * stay. It acknowledges a letter only after the confirm of its copy. In the end the held letters go back in order,
 * channel by channel.
 */
export async function move(
  model: ChannelModel,
  sender: Sender,
  { queue, answersGet }: MovedQueue,
  pass: Pass,
): Promise<Passed> {
  const counting = await openChannel(model);
  const { messageCount: ready } = await countsOf(counting, queue);
  const size = Math.max(heldByChannel, Math.ceil(ready / mostChannels));
  const intake = { ...createIntake(model, counting, queue, size), answersGet };
  const known = Promise.withResolvers<void>();
  const state: Moving = { taken: 0, sent: 0, stopped: null, isLost: false, inFlight: new Set(), known, failed: null };
  try {
    const lost = lossOf(model, counting);
    await Promise.race([takeAll(state, intake, sender, queue, ready, pass), lost]);
    await Promise.race([giveBack(intake, counting, queue), lost]);
  } catch (cause) {
    if (!isLoss(cause)) throw cause;
    state.isLost = true;
    // The connection is there, and gives the letters back when it ends.
    if (cause === silent) destroyConnection(model);
    // Their copies are on another connection. What becomes of them decides how many may be doubled.
    await Promise.all(state.inFlight);
  }
  const { sent, stopped, isLost } = state;
  return { sent, stopped, isLost, mayBeDoubled: isLost ? unsureIn(intake) : 0 };
}

async function takeAll(
  state: Moving,
  intake: Intake,
  sender: Sender,
  queue: string,
  ready: number,
  pass: Pass,
): Promise<void> {
  const startedAtMs = performance.now();
  for (let position = 1; position <= ready; position++) {
    const taken = await intake.next();
    if (taken === null) break;
    const letter = readLetter(taken.message, position);
    state.stopped ??= pass.stopped?.() ?? null;
    const isOpen = state.taken < pass.most && state.stopped === null;
    const sending = isOpen ? pass.decide(letter) : null;
    if (sending === null) {
      await intake.hold(taken.holder);
      continue;
    }
    await room(state, intake, windowLetters - 1);
    if (pass.perSecond !== null) {
      const dueMs = startedAtMs + (1_000 * state.taken) / pass.perSecond;
      await setTimeout(Math.max(0, dueMs - performance.now()));
    }
    if (state.isLost) return;
    state.stopped ??= pass.stopped?.() ?? null;
    if (state.stopped !== null) {
      await intake.hold(taken.holder);
      continue;
    }
    state.taken += 1;
    const sent = sendOne(state, intake, taken, queue, async () => {
      const problem = await carryOut(sending, () => sender.send(letter, sending));
      // The acknowledgement may not reach the queue.
      if (problem === null) pass.onSent?.(letter, false);
      return problem;
    });
    // Only a lost channel makes it fail.
    const done = sent
      .catch(() => undefined)
      .finally(() => {
        state.inFlight.delete(done);
        state.known.resolve();
      });
    state.inFlight.add(done);
  }
  await Promise.all(state.inFlight);
  await room(state, intake, 0);
}

async function sendOne(
  state: Moving,
  intake: Intake,
  { holder, message }: Taken,
  queue: string,
  send: () => Promise<string | null>,
): Promise<void> {
  const problem = await send();
  if (problem !== null) {
    state.stopped ??= problem;
    await intake.hold(holder);
    return;
  }
  state.sent += 1;
  holder.copied.push(message);
  if (!holder.isSettling) void settle(state, intake, holder, queue);
}

/** Waits until at most so many letters have an unknown outcome. */
async function room(state: Moving, intake: Intake, most: number): Promise<void> {
  while (state.inFlight.size + unsureIn(intake) > most) {
    if (state.failed !== null) throw state.failed.cause;
    state.known = Promise.withResolvers();
    await state.known.promise;
  }
}

function unsureIn({ holders }: Intake): number {
  return holders.reduce((sum, holder) => sum + unsureOf(holder), 0);
}

/** The letters with a copy that the queue may not have removed. */
const unsureOf = ({ copied, acknowledged, removed }: Holder): number => copied.length + acknowledged - removed;

function createIntake(model: ChannelModel, counting: Channel, queue: string, size: number): Omit<Intake, "answersGet"> {
  const holders: Holder[] = [];
  const buffer: Taken[] = [];
  let arrived = Promise.withResolvers<void>();
  const open = async (): Promise<void> => {
    const channel = await openChannel(model);
    const none = { delivered: 0, held: 0, late: 0, acknowledged: 0, removed: 0 };
    const given = Promise.withResolvers<void>();
    const holder: Holder = { ...none, channel, size, consumerTag: "", copied: [], given, isSettling: false };
    holders.push(holder);
    await channel.prefetch(size);
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message !== null) {
        buffer.push({ holder, message });
        holder.delivered += 1;
        holder.given.resolve();
      }
      arrived.resolve();
    });
    holder.consumerTag = consumerTag;
  };
  const next = async (): Promise<Taken | null> => {
    if (holders.length === 0) await open();
    for (let times = 0; buffer.length === 0 && times < silentTimes; times++) {
      arrived = Promise.withResolvers<void>();
      const timer = new AbortController();
      await Promise.race([arrived.promise, setTimeout(emptyMs, undefined, { signal: timer.signal })]);
      timer.abort();
      // Deliveries that wait in the socket come before the answer.
      if (buffer.length === 0 && !(await countIn(counting, queue)) && buffer.length === 0) return null;
    }
    return buffer.shift() ?? null;
  };
  const hold = async (holder: Holder): Promise<void> => {
    holder.held += 1;
    if (holder.held < size) return;
    await holder.channel.cancel(holder.consumerTag);
    await open();
  };
  return { holders, next, hold };
}

const silent = new LostError("the queue gives no more letters");

/** Acknowledges the letters with a copy, a few ahead of those that the queue has removed. */
async function settle(state: Moving, { answersGet }: Intake, holder: Holder, queue: string): Promise<void> {
  holder.isSettling = true;
  try {
    for (let movedAtMs = performance.now(); unsureOf(holder) > 0;) {
      const { delivered, removed } = holder;
      const letters = holder.copied.splice(0, mostPassedOn - (holder.acknowledged - removed));
      // Before the acknowledgements, because a lost channel refuses them.
      holder.acknowledged += letters.length;
      for (const letter of letters) holder.channel.ack(letter);
      await findRemoved(holder, { queue, answersGet });
      state.known.resolve();
      if (holder.removed > removed || holder.delivered > delivered) movedAtMs = performance.now();
      // Another consumer may have its place, although letters are ready.
      if (performance.now() - movedAtMs > silentTimes * emptyMs) throw silent;
    }
  } catch (cause) {
    state.failed = { cause };
    state.known.resolve();
  }
  holder.isSettling = false;
}

/**
 * Finds out how many acknowledged letters the queue has removed. A passive declaration does not show it: the broker
 * answers it although the queue has not handled the acknowledgements.
 */
async function findRemoved(holder: Holder, { queue, answersGet }: MovedQueue): Promise<void> {
  const { channel, size, acknowledged } = holder;
  // While letters are ready, the consumer holds as many as it may. It gets one more for each that was removed.
  const shown = (): number => Math.min(acknowledged, holder.delivered - size);
  if (holder.delivered - holder.removed >= size && shown() <= holder.removed) {
    holder.given = Promise.withResolvers();
    await Promise.race([holder.given.promise, setTimeout(askEveryMs)]);
  }
  if (shown() > holder.removed) {
    holder.removed = shown();
    return;
  }
  const { messageCount } = await countsOf(channel, queue);
  if (messageCount > 0) return;
  // The queue answers a get only after the acknowledgements before it.
  if (answersGet && (await channel.get(queue)) !== false) holder.late += 1;
  holder.removed = acknowledged;
}

/** Puts the held letters back in order. No consumer may be left, because it would take them again. */
async function giveBack({ holders }: Intake, counting: Channel, queue: string): Promise<void> {
  const last = holders.at(-1);
  if (last !== undefined) await last.channel.cancel(last.consumerTag);
  let expected = (await countIn(counting, queue)) ?? 0;
  for (const holder of holders) {
    await closeChannel(holder.channel);
    holder.removed = holder.acknowledged;
    expected += holder.held + holder.late;
    await putBack(counting, queue, expected);
  }
  await closeChannel(counting);
}
