import { DeleteMessageCommand, type Message, SendMessageCommand } from "@aws-sdk/client-sqs";

import { digestOf } from "../../../operate/frozen.ts";
import type { Letter } from "../../../operate/letter.ts";
import type { Lending } from "../../../operate/move-lent.ts";
import type { Sending } from "../../../operate/port.ts";
import { errorName, isDenied, isMissing, isOutage } from "../run/client.ts";
import { sqsLimits } from "../compile/capabilities.ts";
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
    send: async (message, letter, sending) => sendTo(client, urlOf, letter, sending, onceFor(message, sending)),
    remove: ({ ReceiptHandle }) => client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }), bounded()),
    ticketOf: ({ ReceiptHandle = "" }) => ReceiptHandle,
    // The look before has shown that it may.
    giveBack: (handles) => putBack(queue, handles).catch(() => undefined),
    isOutage,
    // A group of FIFO keeps its order only one by one.
    isParallel: !isFifo,
    dropsCopies: isFifo,
  };
}

/**
 * Two copies of a letter are the same if they are edited alike. SQS would drop an edited letter as a second copy of one
 * that is not.
 */
function onceFor({ MessageId = "" }: Message, { edited }: Sending): string {
  if (edited === undefined) return MessageId;
  return `${MessageId}-${digestOf(JSON.stringify([edited.headers, edited.body])).toString(16)}`;
}

const goneText = (queue: string): string => `the queue ${queue} is gone`;

/**
 * Sends a letter to a queue, once.
 *
 * @param once SQS drops the second of two copies with it within five minutes, even if a command that was killed sent the
 *   first. Only FIFO queues do
 * @returns null when SQS has taken it, or the reason why it does not
 * @throws if the outcome is unknown
 */
export async function sendTo(
  client: DeadQueue["client"],
  urlOf: (queue: string) => Promise<string | null>,
  letter: Letter,
  sending: Sending,
  once: string,
): Promise<string | null> {
  const queue = sending.queue ?? "";
  const url = await urlOf(queue);
  if (url === null) return goneText(queue);
  const { body, properties, headers } = sending.edited ?? letter;
  const { groupId, traceHeader } = properties;
  const request = new SendMessageCommand({
    QueueUrl: url,
    MessageBody: Buffer.from(body).toString(),
    MessageAttributes: copyAttributes({ ...letter, headers }, sending),
    ...(groupId === undefined ? {} : { MessageGroupId: String(groupId) }),
    ...(queue.endsWith(sqsLimits.fifoSuffix) ? { MessageDeduplicationId: once } : {}),
    ...(traceHeader !== undefined && {
      MessageSystemAttributes: { AWSTraceHeader: { DataType: "String", StringValue: String(traceHeader) } },
    }),
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
