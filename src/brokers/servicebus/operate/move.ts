import type { ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver } from "@azure/service-bus";
import { setTimeout } from "node:timers/promises";

import type { Pass, Passed, Sending } from "../../../operate/port.ts";
import { codeOf } from "../run/client.ts";
import { copyOf, readLetter } from "./letter.ts";

/** The letters whose outcome may be unknown at a time. */
const pageLetters = 50;
const waitMs = 2_000;
/** How often an operation with an unknown outcome is made. */
const mostTries = 5;
/** So many pages of known letters show that there are no others. */
const mostKnownPages = 20;

interface Moving {
  readonly client: ServiceBusClient;
  readonly receiver: ServiceBusReceiver;
  readonly pass: Pass;
  readonly startedAtMs: number;
  /** Letters that stay, by their numbers, until their locks are given back. */
  readonly held: Map<string, ServiceBusReceivedMessage>;
  /** Letters that were sent. One that comes again was not completed yet. */
  readonly gone: Set<string>;
  /** Letters that were sent and are still in the dead queue, as far as is known. */
  readonly unsettled: Set<string>;
  taken: number;
  sent: number;
  repeated: number;
  stopped: string | null;
}

/**
 * Sends letters to their work queues one by one, and completes each after Service Bus has taken its copy. The others
 * get their locks back at the end, and keep their places, because a place is a sequence number.
 *
 * @param frozen the sequence numbers of the letters that the pass may touch
 */
export async function move(
  client: ServiceBusClient,
  deadQueue: string,
  pass: Pass,
  frozen: ReadonlySet<string>,
): Promise<Passed> {
  const receiver = client.createReceiver(deadQueue, { maxAutoLockRenewalDurationInMs: 0, skipParsingBodyAsJson: true });
  const state: Moving = {
    client,
    receiver,
    pass,
    startedAtMs: performance.now(),
    held: new Map(),
    gone: new Set(),
    unsettled: new Set(),
    taken: 0,
    sent: 0,
    repeated: 0,
    stopped: null,
  };
  try {
    await takeAll(state, frozen);
  } finally {
    for (const message of state.held.values()) await receiver.abandonMessage(message).catch(() => undefined);
    await receiver.close().catch(() => undefined);
  }
  const { sent, stopped, repeated, unsettled } = state;
  return { sent, stopped, mayBeDoubled: repeated + unsettled.size, isLost: false };
}

async function takeAll(state: Moving, frozen: ReadonlySet<string>): Promise<void> {
  const { receiver, pass, held, gone } = state;
  let position = 0;
  for (let knownPages = 0; knownPages < mostKnownPages;) {
    const page = await receiver.receiveMessages(pageLetters, { maxWaitTimeInMs: waitMs });
    if (page.length === 0) return;
    const before = held.size + gone.size;
    for (const message of page) {
      const number = String(message.sequenceNumber);
      const letter = readLetter(message, (position += 1));
      const isOpen = frozen.has(number) && !gone.has(number) && state.taken < pass.most && state.stopped === null;
      const sending = isOpen ? pass.decide(letter) : null;
      if (gone.has(number)) await complete(state, number, message);
      else if (sending === null) held.set(number, message);
      else await sendOne(state, number, message, sending);
    }
    if (state.taken >= pass.most || state.stopped !== null) return;
    knownPages = held.size + gone.size === before ? knownPages + 1 : 0;
  }
}

async function sendOne(
  state: Moving,
  number: string,
  message: ServiceBusReceivedMessage,
  sending: Sending,
): Promise<void> {
  const { pass, startedAtMs } = state;
  const dueMs = startedAtMs + (1_000 * state.taken) / (pass.perSecond ?? Infinity);
  await setTimeout(Math.max(0, dueMs - performance.now()));
  state.taken += 1;
  const problem = await send(state, message, sending);
  if (problem !== null) {
    state.stopped ??= problem;
    state.held.set(number, message);
    return;
  }
  state.sent += 1;
  state.gone.add(number);
  await complete(state, number, message);
}

/** A lost lock brings the letter back, and then it is completed without another copy. */
async function complete(state: Moving, number: string, message: ServiceBusReceivedMessage): Promise<void> {
  state.unsettled.add(number);
  await state.receiver.completeMessage(message).then(
    () => state.unsettled.delete(number),
    () => undefined,
  );
}

/** @returns null if Service Bus has taken the copy, or the reason why the letter has to stay */
async function send(
  state: Moving,
  message: ServiceBusReceivedMessage,
  { queue, history }: Sending,
): Promise<string | null> {
  for (let tries = 1; ; tries++) {
    const sender = state.client.createSender(queue);
    try {
      await sender.sendMessages(copyOf(message, history));
      return null;
    } catch (cause) {
      const code = codeOf(cause);
      if (code === "MessagingEntityNotFound") return `the queue ${queue} is gone`;
      if (code === "UnauthorizedAccess") return `this key may not send to ${queue}`;
      if (code === "QuotaExceeded") return `the queue ${queue} is full`;
      if (code === "MessagingEntityDisabled") return `the queue ${queue} takes no messages at present`;
      if (code === "MessageSizeExceeded") return `a letter is too large for ${queue}`;
      state.repeated += 1;
      if (tries === mostTries) return "Service Bus does not answer";
      await setTimeout(500 * 2 ** tries);
    } finally {
      await sender.close().catch(() => undefined);
    }
  }
}
