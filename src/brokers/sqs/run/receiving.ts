import { type Message, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";

import { refused } from "../../../diagnostics/render.ts";
import type { FeedListener } from "../../../consume/port/adapter.ts";
import { growingPauses } from "../../../consume/port/growing-pauses.ts";
import { atMost, pauseMs } from "../../../consume/port/long-timer.ts";
import { type Place, answerWithinMs, isDenied, isRefusal } from "./client.ts";
import type { Contract } from "../compile/contract.ts";
import type { SqsQueue } from "./queue-urls.ts";
import { notAllowed } from "./refusal.ts";

/** The first and the longest pause after a failed receive. */
const firstPauseMs = 250;
const longestPauseMs = 30_000;

/**
 * The longest time that one receive waits for messages. A stopping consumer lets its receive end: SQS hides the
 * messages of an interrupted receive until their visibility timeout, and each loses an attempt. With a long poll of 20
 * s every stop would take as long. Without messages, this limit costs at most 17,280 requests a day.
 */
const longestPollSeconds = 5;

/**
 * The time that a receive of the work queue waits. SQS may have hidden a message at any moment of the wait, so the
 * whole wait counts against the visibility timeout. The timeout, less the handler's time, must have room for it. Under
 * `redrive` that rest is the delay. Otherwise the consumer would give up messages that come late in a wait, again and
 * again in a queue with few messages.
 */
export function waitSecondsFor(
  { receiveWaitSeconds, visibilityTimeoutSeconds }: SqsQueue,
  { handlerTimeoutMs }: Contract,
): number {
  const longest = Math.min(receiveWaitSeconds, longestPollSeconds);
  if (handlerTimeoutMs === null) return longest;
  const roomSeconds = visibilityTimeoutSeconds - handlerTimeoutMs / 1_000;
  return Math.min(longest, Math.max(1, Math.floor(roomSeconds) - 1));
}

export interface ReceivingInput {
  readonly client: () => SQSClient;
  /** Makes a new client that fetches new credentials. */
  readonly renew: () => void;
  readonly queueUrl: string;
  readonly place: Place;
  readonly waitSeconds: number;
  readonly contract: Contract;
  readonly listener: Pick<FeedListener, "answers" | "free" | "report" | "whenFree">;
  /** @param askedAtMs the time from which SQS may have hidden the messages */
  readonly received: (messages: readonly Message[], askedAtMs: number) => void;
}

/**
 * Receives again and again, and never more messages than there are free handlers: a waiting message would use up its
 * visibility timeout.
 */
export type Receiving = ReturnType<typeof createReceiving>;

export function createReceiving(input: ReceivingInput) {
  const cut = new AbortController();
  let current: AbortController | null = null;
  let ended: Promise<void> = Promise.resolve();
  let isWanted = false;
  let isFirst = true;
  const pause = async (): Promise<void> => {
    isWanted = false;
    current?.abort();
    current = null;
    await ended;
  };
  return {
    /** @throws RefusedError if this consumer may not receive. The first receive of all finds that out */
    resume: async () => {
      isWanted = true;
      if (current !== null) return;
      // The receive from before the pause takes messages, too.
      await ended;
      if (!isWanted || current !== null) return;
      current = new AbortController();
      if (isFirst) await receiveFirst(input, cut.signal);
      isFirst = false;
      if (current === null) return;
      ended = receiveUntil(input, current.signal, cut.signal);
    },
    /** Resolves when the running receive has ended. Its messages are still delivered. */
    pause,
    /** Does the same up to a time limit, and then cuts the receive off. */
    close: async (withinMs: number) => {
      await atMost(withinMs, pause());
      cut.abort();
      await ended;
    },
  };
}

/**
 * Only a receive shows whether this consumer may receive. It waits for no messages, so that the start does not wait
 * either. Its messages are handled like any others, so it costs no message a receive.
 */
async function receiveFirst(input: ReceivingInput, cut: AbortSignal): Promise<void> {
  const { contract, listener, place, queueUrl: url, received, renew } = input;
  const askedAtMs = performance.now();
  try {
    received(await receive({ ...input, waitSeconds: 0 }, Math.max(1, listener.free()), cut), askedAtMs);
  } catch (error) {
    if (isDenied(error)) {
      const missing = { action: "sqs:ReceiveMessage", queue: contract.workQueue, url, error };
      throw refused([notAllowed([missing], place, contract)]);
    }
    // Later receives may meet any other error again, and report it.
    if (isRefusal(error)) renew();
  }
}

async function receiveUntil(input: ReceivingInput, over: AbortSignal, cut: AbortSignal): Promise<void> {
  const { listener } = input;
  const ended = new Promise<void>((resolve) => over.addEventListener("abort", () => resolve(), { once: true }));
  const pauses = growingPauses(firstPauseMs, longestPauseMs);
  let isFailing = false;
  for (;;) {
    await Promise.race([listener.whenFree(), ended]);
    if (over.aborted) return;
    const free = listener.free();
    if (free === 0) {
      // A consumer that is about to stop reports it in a later turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    const askedAtMs = performance.now();
    try {
      const messages = await receive(input, free, cut);
      if (isFailing) listener.report({ kind: "reconnected" });
      isFailing = false;
      listener.answers(true);
      pauses.reset();
      input.received(messages, askedAtMs);
    } catch (error) {
      if (cut.aborted) return;
      if (isRefusal(error)) input.renew();
      const nextTryMs = pauses.next();
      listener.report({ kind: isFailing ? "reconnect-failed" : "lost", error, nextTryMs });
      isFailing = true;
      listener.answers(false);
      await pauseMs(nextTryMs, over);
    }
  }
}

async function receive(input: ReceivingInput, free: number, cut: AbortSignal): Promise<readonly Message[]> {
  const { contract, queueUrl, waitSeconds } = input;
  const { maxNumberOfMessages, messageSystemAttributeNames, messageAttributeNames } = contract.receive;
  const command = new ReceiveMessageCommand({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: Math.min(maxNumberOfMessages, free),
    WaitTimeSeconds: waitSeconds,
    // Only the metrics need the time of sending.
    MessageSystemAttributeNames: [...messageSystemAttributeNames, "SentTimestamp"],
    MessageAttributeNames: [...messageAttributeNames],
  });
  // A silent peer never answers.
  const silent = AbortSignal.timeout(waitSeconds * 1_000 + answerWithinMs);
  const { Messages = [] } = await input.client().send(command, { abortSignal: AbortSignal.any([cut, silent]) });
  return Messages;
}
