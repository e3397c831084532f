import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";

import { answerWithinMs, errorName, isDenied } from "../run/client.ts";
import { shownAttributes } from "./letter.ts";

/** A queue of letters, with the facts that decide how to look at it. */
export interface DeadQueue {
  readonly client: SQSClient;
  readonly name: string;
  readonly url: string;
  readonly isFifo: boolean;
}

/**
 * The time that a letter stays hidden, unless it is put back before. A look or a redrive that is killed hides its
 * letters for so long. A letter that comes again meanwhile is known by its id.
 */
const hiddenSecondsFor = (letters: number): number => Math.min(mostHiddenMs / 1_000, 30 + Math.ceil(letters / 10));
export const mostHiddenMs = 600_000;
/** A long poll asks all servers. Even so, SQS may answer that a queue is empty although it is not. */
const waitSeconds = 1;
const mostEmpty = 10;
/** A FIFO queue is consistent. If it answers so, all its groups have hidden letters. */
const mostEmptyOfFifo = 3;
/** So many pages of known letters show that there are no others. */
const mostKnownPages = 20;
/** SQS gives and takes so many messages in one request. */
export const inOneRequest = 10;

export const bounded = (): { readonly abortSignal: AbortSignal } => ({
  abortSignal: AbortSignal.timeout(answerWithinMs),
});

/** The attributes of the queue that a look needs: its visible and hidden letters, and its own dead queue. */
export async function readQueue({ client, url }: DeadQueue) {
  const visible = "ApproximateNumberOfMessages";
  const notVisible = "ApproximateNumberOfMessagesNotVisible";
  const request = new GetQueueAttributesCommand({
    QueueUrl: url,
    AttributeNames: [visible, notVisible, "RedrivePolicy"],
  });
  const { Attributes } = await client.send(request, bounded());
  return {
    ready: Number(Attributes?.[visible] ?? 0),
    hidden: Number(Attributes?.[notVisible] ?? 0),
    deadAfter: Attributes?.["RedrivePolicy"] ?? null,
  };
}

/**
 * Receives letters until none is visible, ten at a time. Each letter is hidden from others until it is put back.
 *
 * @returns true if all visible letters have come. False if SQS shows more than it gives: too many may be hidden, or
 *   others may hold letters of the same groups
 */
export async function* receiveAll(queue: DeadQueue): AsyncGenerator<readonly Message[], boolean> {
  const hiddenSeconds = hiddenSecondsFor((await readQueue(queue)).ready);
  const known = new Set<string>();
  const most = queue.isFifo ? mostEmptyOfFifo : mostEmpty;
  for (let [empty, knownPages] = [0, 0]; empty < most && knownPages < mostKnownPages;) {
    const received = await receive(queue, hiddenSeconds);
    if (received === null) return false;
    if (received.length > 0) {
      const before = known.size;
      for (const { MessageId = "" } of received) known.add(MessageId);
      knownPages = known.size === before ? knownPages + 1 : 0;
      empty = 0;
      yield received;
      continue;
    }
    empty += 1;
    if (empty > 1 && (await readQueue(queue)).ready === 0) return true;
  }
  return false;
}

/** Null if SQS hides no more messages. Source: SQS Developer Guide, "Amazon SQS message quotas". */
async function receive({ client, url }: DeadQueue, hiddenSeconds: number): Promise<readonly Message[] | null> {
  const request = new ReceiveMessageCommand({
    QueueUrl: url,
    MaxNumberOfMessages: inOneRequest,
    WaitTimeSeconds: waitSeconds,
    VisibilityTimeout: hiddenSeconds,
    MessageSystemAttributeNames: [...shownAttributes],
    MessageAttributeNames: ["All"],
  });
  try {
    return (await client.send(request, bounded())).Messages ?? [];
  } catch (cause) {
    if (/OverLimit/.test(errorName(cause))) return null;
    throw cause;
  }
}

/**
 * Shows letters to others again, by their handles. A letter whose request fails comes back by itself.
 *
 * @throws if the credentials may not do it
 */
export async function putBack({ client, url }: DeadQueue, handles: readonly string[]): Promise<void> {
  for (let at = 0; at < handles.length; at += inOneRequest) {
    const Entries = handles
      .slice(at, at + inOneRequest)
      .map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle, VisibilityTimeout: 0 }));
    const request = new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries });
    await client.send(request, bounded()).catch((cause: unknown) => {
      if (isDenied(cause)) throw cause;
    });
  }
}
