import { DeleteMessageCommand, type Message, SendMessageCommand } from "@aws-sdk/client-sqs";
import { setTimeout } from "node:timers/promises";

import type { Letter } from "../../../operate/letter.ts";
import type { Pass, Passed, Sending } from "../../../operate/port.ts";
import { errorName, isDenied, isMissing } from "../run/client.ts";
import { copyAttributes, readLetter } from "./letter.ts";
import { type DeadQueue, type Held, bounded, putBack, receiveAll } from "./queue.ts";

/** How often a request with an unknown outcome is made. */
const mostTries = 5;

interface Moving {
  readonly queue: DeadQueue;
  readonly pass: Pass;
  /** The URL of a work queue. Null if there is none. */
  readonly urlOf: (queue: string) => Promise<string | null>;
  readonly held: Held;
  /** Letters that were sent. One that comes again was not deleted yet. */
  readonly gone: Set<string>;
  readonly startedAtMs: number;
  taken: number;
  sent: number;
  mayBeDoubled: number;
  stopped: string | null;
}

/**
 * Sends letters to work queues, and deletes each after SQS has answered. The others are put back at the end.
 *
 * @param frozen the ids of the letters that the pass may touch
 */
export async function move(
  queue: DeadQueue,
  pass: Pass,
  frozen: ReadonlySet<string>,
  urlOf: Moving["urlOf"],
): Promise<Passed> {
  const state: Moving = {
    queue,
    pass,
    urlOf,
    held: new Map(),
    gone: new Set(),
    startedAtMs: performance.now(),
    taken: 0,
    sent: 0,
    mayBeDoubled: 0,
    stopped: null,
  };
  try {
    let position = 0;
    for await (const page of receiveAll(queue)) {
      const chosen = page.flatMap((message) => choose(state, message, (position += 1), frozen));
      // A group of FIFO keeps its order only one by one.
      if (queue.isFifo || pass.perSecond !== null) for (const each of chosen) await moveOne(state, each);
      else await Promise.all(chosen.map((each) => moveOne(state, each)));
      if (state.taken >= pass.most || state.stopped !== null) break;
    }
  } finally {
    await putBack(queue, state.held);
  }
  const { sent, mayBeDoubled, stopped } = state;
  return { sent, mayBeDoubled, stopped, isLost: false };
}

/** A letter to send, and then to delete. */
interface Chosen {
  readonly message: Message;
  readonly letter: Letter;
  /** Null if it was sent before, but not deleted. */
  readonly sending: Sending | null;
}

/** Decides on a letter of the frozen set. Any other is held, so that it does not come again at once. */
function choose(state: Moving, message: Message, position: number, frozen: ReadonlySet<string>): readonly Chosen[] {
  const { MessageId = "", ReceiptHandle = "" } = message;
  const letter = readLetter(message, position);
  if (state.gone.has(MessageId)) return [{ message, letter, sending: null }];
  const isOpen = frozen.has(MessageId) && state.taken < state.pass.most && state.stopped === null;
  const sending = isOpen ? state.pass.decide(letter) : null;
  if (sending === null) {
    state.held.set(MessageId, ReceiptHandle);
    return [];
  }
  state.taken += 1;
  return [{ message, letter, sending }];
}

async function moveOne(state: Moving, { message, letter, sending }: Chosen): Promise<void> {
  const { MessageId = "", ReceiptHandle = "" } = message;
  const { pass, queue, gone, held } = state;
  if (sending !== null) {
    const dueMs = state.startedAtMs + (1_000 * state.sent) / (pass.perSecond ?? Infinity);
    await setTimeout(Math.max(0, dueMs - performance.now()));
    // A page may hold letters behind the one that stopped the pass.
    const problem = state.stopped ?? (await send(state, message, letter, sending));
    if (problem !== null) {
      state.stopped ??= problem;
      held.set(MessageId, ReceiptHandle);
      return;
    }
    gone.add(MessageId);
    state.sent += 1;
  }
  const request = new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle });
  for (let tries = 1; ; tries++) {
    try {
      await queue.client.send(request, bounded());
      return;
    } catch {
      if (tries === mostTries) break;
      await pause(tries);
    }
  }
  // Its copy is in the work queue, and it is still here.
  state.mayBeDoubled += 1;
  state.stopped ??= "SQS does not delete the letters that were sent";
}

/** @returns null if SQS has taken the copy, or the reason why the letter has to stay */
async function send(
  state: Moving,
  { MessageId = "", Body = "", Attributes }: Message,
  letter: Letter,
  { queue, history }: Sending,
): Promise<string | null> {
  const { client, isFifo } = state.queue;
  const url = await state.urlOf(queue);
  if (url === null) return `the queue ${queue} is gone`;
  const { MessageGroupId, AWSTraceHeader: trace } = Attributes ?? {};
  const { redrive = "" } = (JSON.parse(history) as readonly { readonly redrive?: string }[])[0] ?? {};
  const request = new SendMessageCommand({
    QueueUrl: url,
    MessageBody: Body,
    MessageAttributes: copyAttributes(letter, history),
    ...(MessageGroupId === undefined ? {} : { MessageGroupId }),
    // SQS drops the second of two copies within five minutes, even if a killed redrive sent the first.
    ...(isFifo ? { MessageDeduplicationId: `${redrive}-${MessageId}` } : {}),
    ...(trace === undefined
      ? {}
      : { MessageSystemAttributes: { AWSTraceHeader: { DataType: "String", StringValue: trace } } }),
  });
  for (let tries = 1; ; tries++) {
    try {
      await client.send(request, bounded());
      return null;
    } catch (cause) {
      if (isMissing(cause)) return `the queue ${queue} is gone`;
      if (isDenied(cause)) return `these credentials may not send to ${queue}`;
      const { $fault: fault, $retryable: retryable } = cause as {
        readonly $fault?: string;
        readonly $retryable?: object;
      };
      if (fault === "client" && retryable === undefined && !/Throttl|TooMany/.test(errorName(cause)))
        return `${queue} refuses a letter: ${errorName(cause)}`;
      // A FIFO queue drops the second copy.
      if (!isFifo) state.mayBeDoubled += 1;
      if (tries === mostTries) return "SQS does not answer";
      await pause(tries);
    }
  }
}

async function pause(tries: number): Promise<void> {
  await setTimeout(500 * 2 ** tries);
}
