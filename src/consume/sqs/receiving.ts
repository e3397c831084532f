import { type Message, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";

import { refused } from "../../diagnostics/render.ts";
import type { SessionListener } from "../adapter.ts";
import { growingPauses } from "../breaker.ts";
import { atMost, pauseMs } from "../long-timer.ts";
import type { Place } from "./client.ts";
import { answerWithinMs, isDenied, isRefusal } from "./client.ts";
import type { Contract } from "./contract.ts";
import type { SqsQueue } from "./queue-urls.ts";
import { notAllowed } from "./refusal.ts";

/** What is waited after a receive that failed, at first and at most. */
const firstPauseMs = 250;
const longestPauseMs = 30_000;

/**
 * The longest that one receive waits for messages. A consumer that stops lets it come to its end: what SQS hands to a receive that was cut off is
 * hidden until its visibility timeout is over, and has lost an attempt. So a long poll of 20 s would make every stop as long; this one costs at most
 * 17,280 requests a day where nothing comes.
 */
const longestPollSeconds = 5;

/**
 * How long a receive of the work queue waits. Of a message that it brings nobody knows whether it was hidden at the beginning of the wait or at its end, so
 * all of it counts as gone of the visibility timeout. What the timeout leaves beside the handler's time, its delay under `redrive`, has to have
 * room for it: else what comes late in a wait would be given up as somebody else's, again and again in a queue where little comes.
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
  /** Makes a new client, whose credentials are fetched anew. */
  readonly renew: () => void;
  readonly queueUrl: string;
  readonly place: Place;
  /** How long a receive waits for messages. */
  readonly waitSeconds: number;
  readonly contract: Contract;
  readonly listener: Pick<SessionListener, "answers" | "free" | "report" | "whenFree">;
  /** @param askedAtMs from when on the messages may have been hidden */
  readonly received: (messages: readonly Message[], askedAtMs: number) => void;
}

/** Receives again and again, never more than there are handlers that can begin: a message that waits here would burn its visibility. */
export interface Receiving {
  /** @throws RefusedError where this consumer may not receive, found out by the first receive of all */
  readonly resume: () => Promise<void>;
  /** Is through when the receive that is under way has ended; what it brings is still handed over. */
  readonly pause: () => Promise<void>;
  /** The same, for so long; then it cuts the receive off. */
  readonly close: (withinMs: number) => Promise<void>;
}

export function createReceiving(input: ReceivingInput): Receiving {
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
    pause,
    close: async (withinMs) => {
      await atMost(withinMs, pause());
      cut.abort();
      await ended;
    },
  };
}

/**
 * Only a receive tells whether this consumer may receive. It waits for no messages, so that the start does not wait either; what it brings is handled
 * like any other, so that it costs no message a receive.
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
    // Whatever else it is, those that follow may meet it again, and say so.
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
      // The consumer is about to stop, and says so in a later turn of the event loop.
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
    // When it was sent is for the metrics alone.
    MessageSystemAttributeNames: [...messageSystemAttributeNames, "SentTimestamp"],
    MessageAttributeNames: [...messageAttributeNames],
  });
  // A peer that has gone silent never answers.
  const silent = AbortSignal.timeout(waitSeconds * 1_000 + answerWithinMs);
  const { Messages = [] } = await input.client().send(command, { abortSignal: AbortSignal.any([cut, silent]) });
  return Messages;
}
