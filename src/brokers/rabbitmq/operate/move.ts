import type { Channel, ChannelModel, ConsumeMessage } from "amqplib";
import { setTimeout } from "node:timers/promises";

import { carryOut } from "../../../operate/carry-out.ts";
import type { Pass, Passed } from "../../../operate/port.ts";
import { countIn, lossOf, openChannel, putBack } from "./look.ts";
import { readLetter } from "./read-letter.ts";
import type { Sender } from "./send.ts";
import { isLoss } from "./told.ts";

/** The most letters whose outcome may be unknown if a connection is lost: so many may be doubled. */
export const windowLetters = 100;
/** The letters that one channel holds. Fewer letters are in memory at a time. */
const heldByChannel = 1_000;
/** No connection has more than 2,047 channels. */
const mostChannels = 1_500;
/** The time without a letter after which an empty queue has no more, and after which any queue has none. */
const emptyMs = 5_000;
const silentTimes = 6;

/** A channel with a consumer. When all the letters that it may hold stay, the next one takes over. */
interface Holder {
  readonly channel: Channel;
  consumerTag: string;
  held: number;
  /** Acknowledgements that may not have reached the queue. */
  unsure: number;
  isAsking: boolean;
}

interface Taken {
  readonly holder: Holder;
  readonly message: ConsumeMessage;
}

/** Takes all letters of a queue in order, with a bounded number in memory. */
interface Intake {
  readonly holders: readonly Holder[];
  /** @returns null if no more come */
  readonly next: () => Promise<Taken | null>;
  /** The letter stays: it is held until the end of the pass. */
  readonly hold: (holder: Holder) => Promise<void>;
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
export async function move(model: ChannelModel, sender: Sender, queue: string, pass: Pass): Promise<Passed> {
  const counting = await openChannel(model);
  const { messageCount: ready } = await counting.checkQueue(queue);
  const intake = createIntake(model, counting, queue, Math.max(heldByChannel, Math.ceil(ready / mostChannels)));
  const known = Promise.withResolvers<void>();
  const state: Moving = { taken: 0, sent: 0, stopped: null, isLost: false, inFlight: new Set(), known, failed: null };
  try {
    const lost = lossOf(model, counting);
    await Promise.race([takeAll(state, intake, sender, queue, ready, pass), lost]);
    await Promise.race([giveBack(intake, counting, queue), lost]);
  } catch (cause) {
    if (!isLoss(cause)) throw cause;
    state.isLost = true;
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
    await room(state, intake);
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
  holder.unsure += 1;
  holder.channel.ack(message);
  if (!holder.isAsking) void settle(state, holder, queue);
}

/** Waits until one more letter may have an unknown outcome. */
async function room(state: Moving, intake: Intake): Promise<void> {
  while (state.inFlight.size + unsureIn(intake) >= windowLetters) {
    if (state.failed !== null) throw state.failed.cause;
    state.known = Promise.withResolvers();
    await state.known.promise;
  }
}

function unsureIn({ holders }: Intake): number {
  return holders.reduce((sum, holder) => sum + holder.unsure, 0);
}

function createIntake(model: ChannelModel, counting: Channel, queue: string, size: number): Intake {
  const holders: Holder[] = [];
  const buffer: Taken[] = [];
  let arrived = Promise.withResolvers<void>();
  const open = async (): Promise<void> => {
    const channel = await openChannel(model);
    const holder: Holder = { channel, consumerTag: "", held: 0, unsure: 0, isAsking: false };
    holders.push(holder);
    await channel.prefetch(size);
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message !== null) buffer.push({ holder, message });
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
      if (buffer.length === 0 && !((await countIn(counting, queue)) ?? 0)) return null;
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

/** The broker answers a question on a channel after it has handled the acknowledgements before. */
async function settle(state: Moving, holder: Holder, queue: string): Promise<void> {
  holder.isAsking = true;
  try {
    while (holder.unsure > 0) {
      const { unsure } = holder;
      await holder.channel.checkQueue(queue);
      holder.unsure -= unsure;
      state.known.resolve();
    }
  } catch (cause) {
    state.failed = { cause };
    state.known.resolve();
  }
  holder.isAsking = false;
}

/** Puts the held letters back in order. No consumer may be left, because it would take them again. */
async function giveBack({ holders }: Intake, counting: Channel, queue: string): Promise<void> {
  const last = holders.at(-1);
  if (last !== undefined) await last.channel.cancel(last.consumerTag);
  let expected = (await countIn(counting, queue)) ?? 0;
  for (const holder of holders) {
    await holder.channel.close();
    holder.unsure = 0;
    expected += holder.held;
    await putBack(counting, queue, expected);
  }
  await counting.close();
}
