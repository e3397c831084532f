import type { ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver } from "@azure/service-bus";

import type { Lending } from "../../../operate/move-lent.ts";
import { servicebusLimits } from "../compile/capabilities.ts";
import { codeOf } from "../run/client.ts";
import type { AmqpMessage } from "../run/copy-message.ts";
import { type SendCopy, TooLargeError, createSendCopy } from "../run/sending.ts";
import { copyOf, readLetter } from "./letter.ts";

/** Few letters at a time: all of a page have to be sent before their locks end. */
const pageLetters = 20;
const waitMs = 2_000;
/** So many pages of known letters show that there are no others. */
const mostKnownPages = 20;

/** A dead queue of Service Bus, for a redrive. A letter keeps its place, which is its sequence number. */
export function lendingOf(
  client: ServiceBusClient,
  receiver: ServiceBusReceiver,
  perSecond: number | null,
): Lending<ServiceBusReceivedMessage, ServiceBusReceivedMessage> {
  const senders = new Map<string, SendCopy>();
  const senderFor = (queue: string): SendCopy => {
    const sender = senders.get(queue) ?? senderTo(client, queue);
    senders.set(queue, sender);
    return sender;
  };
  return {
    pages: receiveAll(receiver, Math.min(pageLetters, 2 * (perSecond ?? Infinity))),
    idOf,
    read: readLetter,
    send: async (message, letter, sending) => {
      const { queue } = sending;
      return queue === null ? null : sendTo(senderFor(queue), queue, copyOf(message, letter, sending));
    },
    remove: (message) => receiver.completeMessage(message),
    ticketOf: (message) => message,
    giveBack: async (messages) => {
      for (const message of messages) await receiver.abandonMessage(message).catch(() => undefined);
    },
    isOutage: isOfSdk,
    isParallel: false,
    // Only a queue with duplicate detection does, and a redrive does not know if this one has it.
    dropsCopies: false,
  };
}

export function senderTo(client: ServiceBusClient, queue: string): SendCopy {
  return createSendCopy(client, queue, limits);
}

/** @throws if the outcome is unknown */
export async function sendTo(send: SendCopy, queue: string, copy: AmqpMessage): Promise<string | null> {
  try {
    await send(copy);
    return null;
  } catch (cause) {
    if (cause instanceof TooLargeError) return cause.message;
    const reason = refusals[codeOf(cause) ?? ""];
    if (reason === undefined) throw cause;
    return `the queue ${queue} ${reason}`;
  }
}

/** Only the SDK says of an error whether a second try may help. */
export function isOfSdk(cause: unknown): boolean {
  return typeof cause === "object" && cause !== null && "retryable" in cause;
}

const limits = { mostPropertiesBytes: servicebusLimits.propertiesBytes };

const refusals: Readonly<Record<string, string>> = {
  MessagingEntityNotFound: "is gone",
  UnauthorizedAccess: "takes no messages from this key",
  QuotaExceeded: "is full",
  MessagingEntityDisabled: "takes no messages at present",
};

const idOf = ({ sequenceNumber }: ServiceBusReceivedMessage): string => String(sequenceNumber);

async function* receiveAll(
  receiver: ServiceBusReceiver,
  most: number,
): AsyncGenerator<readonly ServiceBusReceivedMessage[]> {
  const known = new Set<string>();
  for (let knownPages = 0; knownPages < mostKnownPages;) {
    const page = await receiver.receiveMessages(most, { maxWaitTimeInMs: waitMs });
    if (page.length === 0) return;
    const before = known.size;
    for (const message of page) known.add(idOf(message));
    knownPages = known.size === before ? knownPages + 1 : 0;
    yield page;
  }
}
