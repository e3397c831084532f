import { DeleteMessageCommand, type Message, SendMessageCommand } from "@aws-sdk/client-sqs";

import type { Letter } from "../../../operate/letter.ts";
import type { Lending } from "../../../operate/move-lent.ts";
import type { Sending } from "../../../operate/port.ts";
import { errorName, isDenied, isMissing, isOutage } from "../run/client.ts";
import { copyAttributes, readLetter } from "./letter.ts";
import { type DeadQueue, bounded, putBack, receiveAll } from "./queue.ts";

/**
 * A dead queue of SQS, for a redrive.
 *
 * @param urlOf finds the URL of a work queue; null if there is none
 */
export function lendingOf(
  queue: DeadQueue,
  urlOf: (queue: string) => Promise<string | null>,
): Lending<Message, string> {
  const { client, url, isFifo } = queue;
  return {
    pages: receiveAll(queue),
    idOf: ({ MessageId = "" }) => MessageId,
    read: readLetter,
    send: async (message, letter, sending) => {
      const target = await urlOf(sending.queue);
      return target === null ? goneText(sending.queue) : send(queue, target, message, letter, sending);
    },
    remove: ({ ReceiptHandle }) => client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }), bounded()),
    ticketOf: ({ ReceiptHandle = "" }) => ReceiptHandle,
    giveBack: (handles) => putBack(queue, handles),
    isOutage,
    // A group of FIFO keeps its order only one by one.
    isParallel: !isFifo,
    dropsCopies: isFifo,
  };
}

const goneText = (queue: string): string => `the queue ${queue} is gone`;

async function send(
  { client, isFifo }: DeadQueue,
  url: string,
  { MessageId, Body = "", Attributes }: Message,
  letter: Letter,
  { queue, history }: Sending,
): Promise<string | null> {
  const { MessageGroupId, AWSTraceHeader: trace } = Attributes ?? {};
  const request = new SendMessageCommand({
    QueueUrl: url,
    MessageBody: Body,
    MessageAttributes: copyAttributes(letter, history),
    ...(MessageGroupId === undefined ? {} : { MessageGroupId }),
    // SQS drops the second of two copies within five minutes, even if a redrive that was killed sent the first.
    ...(isFifo ? { MessageDeduplicationId: MessageId } : {}),
    ...(trace === undefined
      ? {}
      : { MessageSystemAttributes: { AWSTraceHeader: { DataType: "String", StringValue: trace } } }),
  });
  try {
    await client.send(request, bounded());
    return null;
  } catch (cause) {
    if (isMissing(cause)) return goneText(queue);
    if (isDenied(cause)) return `these credentials may not send to ${queue}`;
    const { $fault: fault, $retryable: retryable } = cause as {
      readonly $fault?: string;
      readonly $retryable?: object;
    };
    const isTooFast = /Throttl|TooMany/.test(errorName(cause));
    if (fault === "client" && retryable === undefined && !isTooFast)
      return `${queue} refuses a letter: ${errorName(cause)}`;
    throw cause;
  }
}
