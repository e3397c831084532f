import { setTimeout } from "node:timers/promises";

import { carryOut, pauseAfter, sendOften } from "./carry-out.ts";
import type { Letter } from "./letter.ts";
import type { Pass, Passed, Sending } from "./port.ts";

/** A dead queue that lends letters to a reader. A letter that is not removed comes back by itself after some time. */
export interface Lending<Message, Ticket> {
  /** Pages of letters. They end when no others come. */
  readonly pages: AsyncIterable<readonly Message[]>;
  /** The same each time the letter comes. */
  readonly idOf: (message: Message) => string;
  readonly read: (message: Message, position: number) => Letter;
  /**
   * Sends a copy, once.
   *
   * @returns null when the broker has taken it, or the reason why the letter has to stay
   * @throws if the outcome is unknown
   */
  readonly send: (message: Message, letter: Letter, sending: Sending) => Promise<string | null>;
  /** @throws if the letter may still be there */
  readonly remove: (message: Message) => Promise<unknown>;
  /** The part of a message that gives it back. */
  readonly ticketOf: (message: Message) => Ticket;
  /** Shows letters to others again at once. Letters for which this fails come back by themselves. */
  readonly giveBack: (tickets: readonly Ticket[]) => Promise<void>;
  /** True for an error of `pages` after which the pages may begin anew. */
  readonly isOutage: (cause: unknown) => boolean;
  /** True if letters of a page may be sent together. */
  readonly isParallel: boolean;
  /** True if the broker drops the second copy when a send is repeated. */
  readonly dropsCopies: boolean;
}

/** How often a letter is removed before the redrive gives up. */
const mostRemovals = 3;

interface Moving<Message, Ticket> {
  readonly lending: Lending<Message, Ticket>;
  readonly pass: Pass;
  readonly held: Map<string, Ticket>;
  readonly startedAtMs: number;
  taken: number;
  sent: number;
  mayBeDoubled: number;
  stopped: string | null;
  isLost: boolean;
}

interface Chosen<Message> {
  readonly message: Message;
  readonly letter: Letter;
  readonly sending: Sending;
}

/**
 * Sends letters that a queue lends, and removes each after the broker has taken its copy. The others are given back at
 * the end. A letter that was sent and cannot be removed ends the pass, so that no others are doubled like it.
 *
 * An outage ends the pass, and its result has all that was sent before. A queue may show a removed letter again, so
 * `pass.decide` has to know it.
 */
export async function moveLent<Message, Ticket>(lending: Lending<Message, Ticket>, pass: Pass): Promise<Passed> {
  const state: Moving<Message, Ticket> = {
    lending,
    pass,
    held: new Map(),
    startedAtMs: performance.now(),
    taken: 0,
    sent: 0,
    mayBeDoubled: 0,
    stopped: null,
    isLost: false,
  };
  try {
    let position = 0;
    for await (const page of lending.pages) {
      const chosen = page.flatMap((message) => choose(state, message, (position += 1)));
      if (lending.isParallel && pass.perSecond === null) await Promise.all(chosen.map((each) => moveOne(state, each)));
      else for (const each of chosen) await moveOne(state, each);
      if (state.taken >= pass.most || state.stopped !== null) break;
    }
  } catch (cause) {
    if (!lending.isOutage(cause)) throw cause;
    state.isLost = true;
  } finally {
    await lending.giveBack([...state.held.values()]);
  }
  const { sent, mayBeDoubled, stopped, isLost } = state;
  return { sent, mayBeDoubled, stopped, isLost };
}

/** Decides on a letter. One that stays is held, so that it does not come again at once. */
function choose<Message, Ticket>(
  state: Moving<Message, Ticket>,
  message: Message,
  position: number,
): readonly Chosen<Message>[] {
  const { lending, pass, held } = state;
  const id = lending.idOf(message);
  const letter = lending.read(message, position);
  state.stopped ??= pass.stopped?.() ?? null;
  const isOpen = !held.has(id) && state.taken < pass.most && state.stopped === null;
  const sending = isOpen ? pass.decide(letter) : null;
  if (sending === null) {
    held.set(id, lending.ticketOf(message));
    return [];
  }
  state.taken += 1;
  return [{ message, letter, sending }];
}

async function moveOne<Message, Ticket>(
  state: Moving<Message, Ticket>,
  { message, letter, sending }: Chosen<Message>,
): Promise<void> {
  const { lending, pass, held, startedAtMs } = state;
  const id = lending.idOf(message);
  const dueMs = startedAtMs + (1_000 * state.sent) / (pass.perSecond ?? Infinity);
  await setTimeout(Math.max(0, dueMs - performance.now()));
  // A page may hold letters behind the one that stopped the pass.
  state.stopped ??= pass.stopped?.() ?? null;
  const problem = state.stopped ?? (await carryOut(sending, () => sendOne(state, message, letter, sending)));
  if (problem !== null) {
    state.stopped ??= problem;
    held.set(id, lending.ticketOf(message));
    return;
  }
  state.sent += 1;
  const isGone = await isRemoved(lending, message);
  pass.onSent?.(letter, isGone);
  if (isGone) return;
  state.mayBeDoubled += 1;
  state.stopped ??= "a letter was sent and could not be removed, so it may be sent twice";
}

async function sendOne<Message, Ticket>(
  state: Moving<Message, Ticket>,
  message: Message,
  letter: Letter,
  sending: Sending,
): Promise<string | null> {
  const { lending } = state;
  const unknown = (isLast: boolean): void => {
    // A queue that drops copies remembers them for some minutes only, and this letter stays.
    if (!lending.dropsCopies || isLast) state.mayBeDoubled += 1;
  };
  return sendOften(sending.queue, () => lending.send(message, letter, sending), unknown);
}

async function isRemoved<Message, Ticket>(lending: Lending<Message, Ticket>, message: Message): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      await lending.remove(message);
      return true;
    } catch {
      if (tries === mostRemovals) return false;
      await pauseAfter(tries);
    }
  }
}
