import { setTimeout } from "node:timers/promises";

import { ServiceBusError } from "@azure/service-bus";
import type { ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver } from "@azure/service-bus";

import type { Pass, Sending } from "../../../operate/port.ts";
import { servicebusLimits } from "../compile/capabilities.ts";
import { readLetter } from "./letter.ts";

/** The way to the chosen letters of a dead queue. */
export interface Taking {
  readonly client: ServiceBusClient;
  readonly queue: string;
  readonly pass: Pass;
  /** The letters of the pass, by their numbers. */
  readonly chosen: Map<string, Sending>;
  /** Each has taken as many letters as it can remember. */
  readonly receivers: ServiceBusReceiver[];
  sent: number;
  /** Why it ended before the last chosen letter. Null if it did not. */
  stopped: string | null;
}

type Message = ServiceBusReceivedMessage;
/** Without its body, which may be large. */
interface FoundLetter {
  readonly number: NonNullable<Message["sequenceNumber"]>;
  readonly session: string;
  readonly isDeferred: boolean;
  readonly position: number;
}

type Found = Map<string, FoundLetter>;

/** The most that Service Bus shows at a time. Source: Service Bus quotas. */
const pageLetters = 250;
/** The memory for chosen letters. No more can be sent while the locks in front of them hold. */
const mostFound = 10_000;
/** The client library remembers 2,048 messages of a link from the first one without an answer. */
const receiverLetters = 2_000 - pageLetters;
const waitMs = 2_000;
/** A lock of somebody else ends within this time, even if the clocks differ a little. */
const longestLockMs = servicebusLimits.lockMs + 10_000;

/** Only the SDK says of an error whether a second try may help. */
export function isOfSdk(cause: unknown): cause is { readonly retryable: boolean } {
  return typeof cause === "object" && cause !== null && "retryable" in cause;
}

/** If the connection goes while the SDK waits for letters, it throws an error without a code. */
async function answerOf<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (cause) {
    if (isOfSdk(cause) || (cause as Error).name !== "Error") throw cause;
    throw new ServiceBusError("the connection was lost", "ServiceCommunicationProblem");
  }
}

export const idOf = ({ sequenceNumber }: Message): string => String(sequenceNumber);

/** The number 1 as the client library wants it. It gives one out only with a letter. */
let one: Message["sequenceNumber"];

/** Shows all letters of a queue. */
export async function* peekAll(client: ServiceBusClient, queue: string): AsyncGenerator<Message> {
  const receiver = client.createReceiver(queue, { skipParsingBodyAsJson: true });
  try {
    // Without a number, each receiver of a client goes on behind the last letter that any of them has shown.
    for (let from = one; ;) {
      const page = await answerOf(
        receiver.peekMessages(pageLetters, from === undefined ? {} : { fromSequenceNumber: from }),
      );
      const last = page.at(-1)?.sequenceNumber;
      if (last === undefined) return;
      one ??= last.sub(last).add(1);
      from = last.add(1);
      yield* page;
    }
  } finally {
    await receiver.close().catch(() => undefined);
  }
}

/**
 * Takes chosen letters, one after the other. Nobody can receive a letter by its number unless it was deferred, and a
 * deferred letter never becomes an ordinary one again. So this defers none: it locks the letters in front of the chosen
 * ones, and gives them back after half of their lock duration. Then it begins again. Before, it peeks. So it
 * knows where the chosen letters are, and that no letter is missing only because somebody else has locked it.
 */
export async function* takeChosen(taking: Taking): AsyncGenerator<readonly [Message]> {
  for (let sinceMs = performance.now(); ;) {
    const found = await find(taking);
    if (found.size === 0 || isStopped(taking)) return;
    const sentBefore = taking.sent;
    const wanted = found.size;
    for await (const message of takeOnce(taking, found)) {
      yield [message];
      taking.sent += 1;
      sinceMs = performance.now();
    }
    if (isStopped(taking)) return;
    if (taking.sent > sentBefore) continue;
    if (performance.now() - sinceMs > longestLockMs) taking.stopped = `${wanted} letters are locked by somebody else`;
    else await setTimeout(waitMs);
  }
}

const isStopped = ({ pass, stopped }: Taking): boolean => stopped !== null || (pass.stopped?.() ?? null) !== null;

/** Finds the chosen letters that are there, in order. A letter that was chosen before stays chosen. */
async function find({ client, queue, pass, chosen, sent }: Taking): Promise<Found> {
  const found: Found = new Map();
  let position = 0;
  for await (const message of peekAll(client, queue)) {
    if (found.size >= Math.min(pass.most - sent, mostFound)) break;
    position += 1;
    const id = idOf(message);
    const sending = chosen.get(id) ?? pass.decide(readLetter(message, position, queue));
    if (sending === null) continue;
    chosen.set(id, sending);
    const { sequenceNumber: number, sessionId: session = "", state } = message;
    if (number !== undefined) found.set(id, { number, session, isDeferred: state === "deferred", position });
  }
  return found;
}

async function* takeOnce(taking: Taking, found: Found): AsyncGenerator<Message> {
  for (const [id, { number, isDeferred }] of found) {
    if (!isDeferred) continue;
    found.delete(id);
    const taken = await takeDeferred(receiverAt(taking, 0), number);
    if (taken !== null) yield taken;
  }
  yield* receiveUntil(taking, found);
}

/** Null if somebody else has locked the letter. */
async function takeDeferred(receiver: ServiceBusReceiver, number: FoundLetter["number"]): Promise<Message | null> {
  try {
    // One at a time: one request cannot name letters of different partitions. Source: azure-service-bus issue 287.
    const [taken] = await answerOf(receiver.receiveDeferredMessages(number));
    return taken ?? null;
  } catch (cause) {
    if (isOfSdk(cause) && !cause.retryable) return null;
    throw cause;
  }
}

/** Receives from the head of the queue until the wanted letters have come, or until the first lock is half over. */
async function* receiveUntil(taking: Taking, wanted: Found): AsyncGenerator<Message> {
  const held = new Set<Message>();
  let [received, given, untilMs] = [0, 0, Infinity];
  const isLate = (): boolean => performance.now() > untilMs;
  try {
    while (wanted.size > 0 && !isStopped(taking)) {
      const most = Math.min(pageLetters, Math.max(nextPosition(wanted) - received, Math.min(wanted.size, mostLocked)));
      const receiver = receiverAt(taking, Math.floor(received / receiverLetters));
      const page = await answerOf(receiver.receiveMessages(most, { maxWaitTimeInMs: waitMs }));
      const [first] = page;
      if (first === undefined) return;
      if (received === 0) untilMs = performance.now() + lockMsOf(first) / 2;
      received += page.length;
      for (const message of page) held.add(message);
      for (const message of page) {
        if (!wanted.has(idOf(message)) || overtakes(message, wanted) || (given > 0 && isLate())) continue;
        held.delete(message);
        wanted.delete(idOf(message));
        given += 1;
        yield message;
      }
      if (!isLate()) continue;
      if (given === 0)
        taking.stopped = `the letters in front of the next one are too many: ${received} of them take half of their lock duration`;
      return;
    }
  } finally {
    await giveBack(receiverAt(taking, 0), [...held]);
  }
}

/** A process that is killed keeps so many chosen letters from the next one, until their locks end. */
const mostLocked = 20;

/** The position up to which to receive next. */
function nextPosition(wanted: Found): number {
  let [count, last] = [0, 0];
  for (const { position } of wanted.values()) {
    last = position;
    count += 1;
    if (count === mostLocked) break;
  }
  return last;
}

/** The client library, too, compares the end of a lock with the clock of this machine. */
function lockMsOf({ lockedUntilUtc }: Message): number {
  const leftMs = (lockedUntilUtc?.getTime() ?? 0) - Date.now();
  return Math.min(Math.max(leftMs, servicebusLimits.leastLockMs), servicebusLimits.lockMs);
}

/** True if an earlier letter of the same session has not come, because somebody else has locked it. */
function overtakes(message: Message, wanted: Found): boolean {
  const session = message.sessionId ?? "";
  if (session === "") return false;
  for (const [id, earlier] of wanted) if (earlier.session === session) return id !== idOf(message);
  return false;
}

export function receiverAt({ client, queue, receivers }: Taking, index: number): ServiceBusReceiver {
  return (receivers[index] ??= client.createReceiver(queue, {
    maxAutoLockRenewalDurationInMs: 0,
    skipParsingBodyAsJson: true,
  }));
}

/** The letters to give back at a time. Each has a time limit of its own. */
const backLetters = 500;

/**
 * Ends locks. Those for which this fails end by themselves. No other answers may be on their way, because the client
 * library makes one of all answers of a turn.
 */
export async function giveBack(receiver: ServiceBusReceiver, messages: readonly Message[]): Promise<void> {
  for (let first = 0; first < messages.length; first += backLetters) {
    const some = messages.slice(first, first + backLetters);
    const given = await Promise.allSettled(some.map((message) => receiver.abandonMessage(message)));
    // The connection is gone. The next ones would wait in vain, too.
    if (given.every(({ status }) => status === "rejected")) return;
  }
}
