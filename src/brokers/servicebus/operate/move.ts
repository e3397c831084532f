import type { ServiceBusClient, ServiceBusReceivedMessage } from "@azure/service-bus";

import { moveLent, type Lending } from "../../../operate/move-lent.ts";
import type { Pass, Passed } from "../../../operate/port.ts";
import { servicebusLimits } from "../compile/capabilities.ts";
import { codeOf } from "../run/client.ts";
import type { AmqpMessage } from "../run/copy-message.ts";
import { type SendCopy, TooLargeError, createSendCopy } from "../run/sending.ts";
import { copyOf, readLetter } from "./letter.ts";
import { type Taking, giveBack, idOf, isOfSdk, receiverAt, takeChosen } from "./take.ts";

/** Sends letters of a dead queue. A letter keeps its place, which is its sequence number. */
export async function move(client: ServiceBusClient, queue: string, pass: Pass): Promise<Passed> {
  const taking: Taking = { client, queue, pass, chosen: new Map(), receivers: [], sent: 0, stopped: null };
  try {
    // The letters are chosen by a peek, before they come.
    const decide: Pass["decide"] = ({ properties }) => taking.chosen.get(String(properties["sequenceNumber"])) ?? null;
    const passed = await moveLent(lendingOf(taking), { ...pass, decide });
    return { ...passed, stopped: passed.stopped ?? taking.stopped };
  } finally {
    await Promise.all(taking.receivers.map((receiver) => receiver.close().catch(() => undefined)));
  }
}

function lendingOf(taking: Taking): Lending<ServiceBusReceivedMessage, ServiceBusReceivedMessage> {
  const senders = new Map<string, SendCopy>();
  const senderFor = (queue: string): SendCopy => {
    const sender = senders.get(queue) ?? senderTo(taking.client, queue);
    senders.set(queue, sender);
    return sender;
  };
  return {
    pages: takeChosen(taking),
    idOf,
    read: (message, position) => readLetter(message, position, taking.queue),
    send: async (message, letter, sending) => {
      const { queue } = sending;
      return queue === null ? null : sendTo(senderFor(queue), queue, copyOf(message, letter, sending));
    },
    remove: (message) => receiverAt(taking, 0).completeMessage(message),
    ticketOf: (message) => message,
    giveBack: (messages) => giveBack(receiverAt(taking, 0), messages),
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
    const name = nameOf(cause);
    const reason = refusals[name];
    if (reason !== undefined) return `the queue ${queue} ${reason}`;
    if (!isOfSdk(cause) || cause.retryable || lost.has(name)) throw cause;
    return `the queue ${queue} refuses it: ${name}`;
  }
}

/** An SDK's error may repeat its input, so only the name is passed on. Without a code, it begins the text. */
function nameOf(cause: unknown): string {
  const code = codeOf(cause) ?? "";
  return (code === "GeneralError" ? /^\w+(?=: )/.exec((cause as Error).message)?.[0] : null) ?? code;
}

const limits = { mostPropertiesBytes: servicebusLimits.propertiesBytes };

const refusals: Readonly<Record<string, string>> = {
  MessagingEntityNotFound: "is gone",
  UnauthorizedAccess: "takes no messages from this key",
  QuotaExceeded: "is full",
  MessagingEntityDisabled: "takes no messages at present",
};

/** The SDK advises against a second try also if the link went before the answer came. Then nobody knows the outcome. */
const lost: ReadonlySet<string> = new Set([
  "",
  "GeneralError",
  "AbortError",
  "SendOperationFailedError",
  "ServiceCommunicationProblem",
]);
