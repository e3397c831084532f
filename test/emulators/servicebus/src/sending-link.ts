import type { Delivery, EventContext, Message, Receiver } from "rhea";

import { decode, scheduledTimeOf } from "./content.ts";
import { accepted, echo, type OnePerTurn, refuse, rejected } from "./link.ts";
import { bytesOf, limits } from "./limits.ts";
import type { Namespace } from "./namespace.ts";
import type { Refusal } from "./settlement.ts";

/**
 * A message that contains messages: each of its data sections is one, encoded. Source: `message-format` of Service Bus
 * batches.
 */
const batchFormat = 0x80013700;

/** A client that sends to a queue or a topic. */
export function openSendingLink(receiver: Receiver, namespace: Namespace, turns: OnePerTurn): void {
  const path = receiver.target.address ?? "";
  echo(receiver, namespace.messageBytes(path));
  const kind = namespace.registry.find(path)?.kind;
  if (kind !== "queue" && kind !== "topic") {
    refuse(receiver, {
      condition: "amqp:not-found",
      description: `The messaging entity '${path}' could not be found.`,
    });
    return;
  }
  const claims = namespace.access.claimsOf(receiver.connection);
  const unauthorized = claims.refusalOf(path, ["Send"]);
  if (unauthorized !== null) {
    refuse(receiver, unauthorized);
    return;
  }
  claims.guard(receiver, path, "Send");
  receiver.on("message", (context: EventContext) => {
    const delivery = context.delivery as Delivery;
    const contents = contentsOf(context.message as Message, delivery.format);
    const refusal = sendAll(namespace, path, contents);
    const answer = (): void =>
      turns.add(() => {
        if (refusal === null) {
          const messageIds = contents.map(({ message_id: id }) => String(id));
          namespace.watcher.heard?.({ kind: "answered", messageIds });
        }
        delivery.update(true, refusal === null ? accepted() : rejected(refusal));
      });
    const { mayAnswer } = namespace.watcher;
    if (mayAnswer === undefined || contents.every((each) => scheduledTimeOf(each) === null)) answer();
    else void mayAnswer().then(answer);
  });
}

function contentsOf(message: Message, format: number): readonly Message[] {
  if (format !== batchFormat) return [message];
  const { content } = decode(message as unknown as Buffer).body as { content: Buffer | readonly Buffer[] };
  return (Buffer.isBuffer(content) ? [content] : content).map(decode);
}

/** Service Bus takes a batch as a whole. So every message is checked before the first is sent. */
function sendAll(namespace: Namespace, path: string, contents: readonly Message[]): Refusal | null {
  const refusal = contents.map((each) => refusalOf(namespace, path, each)).find((each) => each !== null);
  if (refusal !== undefined) return refusal;
  const mostBytes = limits.batchBytes[namespace.registry.sku];
  if (contents.length > 1 && contents.reduce((bytes, each) => bytes + bytesOf(each), 0) > mostBytes)
    return { condition: "amqp:link:message-size-exceeded", description: `A batch has ${mostBytes} bytes at most.` };
  for (const content of contents) {
    const sent = namespace.send(path, content);
    if ("condition" in sent) return sent;
  }
  return null;
}

function refusalOf(namespace: Namespace, path: string, content: Message): Refusal | null {
  const tooMuch = namespace.refusalOf(path, content);
  if (tooMuch !== null) return tooMuch;
  const mailbox = namespace.mailboxAt(path);
  return mailbox?.rules.requiresSession === true && (content.group_id ?? null) === null
    ? {
        condition: "amqp:not-allowed",
        description: "The SessionId was not set on a message sent to an entity with sessions.",
      }
    : null;
}
