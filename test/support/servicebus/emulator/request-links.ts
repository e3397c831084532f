import type { EventContext, Message, Receiver } from "rhea";

import { echo, type OnePerTurn, refuse } from "./link.ts";
import { manage } from "./management.ts";
import type { Namespace } from "./namespace.ts";

const managementSuffix = /\/\$management$/i;

/** Whether an address is answered by messages instead of holding them. */
export function isRequestAddress(address: string): boolean {
  return address === "$cbs" || managementSuffix.test(address);
}

/** A client that sends requests, about its tokens or about an entity, and has opened a link for the answers on the same session. */
export function openRequestLink(receiver: Receiver, namespace: Namespace, turns: OnePerTurn): void {
  echo(receiver);
  const address = receiver.target.address ?? "";
  const entity = address.replace(managementSuffix, "");
  if (address !== "$cbs" && namespace.mailboxAt(entity) === undefined) {
    refuse(receiver, {
      condition: "amqp:not-found",
      description: `The messaging entity '${entity}' could not be found.`,
    });
    return;
  }
  receiver.on("message", ({ message, delivery }: EventContext) => {
    if (message === undefined) return;
    turns.add(() => delivery?.accept());
    const operation = String(message.application_properties?.["operation"]);
    const body = (message.body ?? {}) as Readonly<Record<string, unknown>>;
    const answer =
      address === "$cbs"
        ? { application_properties: { "status-code": 202, "status-description": "Accepted" }, body: null }
        : manage(namespace, entity, operation, body);
    const respond = (): void => reply(receiver, message, { ...answer, correlation_id: message.message_id } as Message);
    const entries = (body["messages"] ?? []) as readonly { readonly "message-id": string }[];
    if (operation !== "com.microsoft:schedule-message") respond();
    else
      void answerLater(
        namespace,
        entries.map((each) => each["message-id"]),
        respond,
      );
  });
}

async function answerLater({ watcher }: Namespace, messageIds: readonly string[], respond: () => void): Promise<void> {
  await watcher.mayAnswer?.();
  watcher.heard?.({ kind: "answered", messageIds });
  respond();
}

/** A token's answer goes to the link of that name, an entity's to the link with that target. */
function reply({ session }: Receiver, { reply_to: replyTo }: Message, answer: Message): void {
  const sender = session.find_sender(
    (each: { name: string; target: { address?: string } | null }) =>
      each.name === replyTo || each.target?.address === replyTo,
  );
  sender?.send(answer);
}
