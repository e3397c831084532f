import rhea, { type EventContext, type Message, type Receiver } from "rhea";

import type { Claims } from "./claims.ts";
import { echo, type OnePerTurn, refuse } from "./link.ts";
import { bytesOf, limits } from "./limits.ts";
import { manage } from "./management.ts";
import type { Namespace } from "./namespace.ts";

type Answer = Pick<Message, "application_properties" | "body">;

const managementSuffix = /\/\$management$/i;

/** True if an address answers messages instead of holding them. */
export function isRequestAddress(address: string): boolean {
  return address === "$cbs" || managementSuffix.test(address);
}

/**
 * A client that sends requests about its tokens or an entity. It has opened a link for the answers on the same session.
 */
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
  const claims = namespace.access.claimsOf(receiver.connection);
  const unauthorized = address === "$cbs" ? null : claims.refusalOf(address, ["Listen", "Send"]);
  if (unauthorized !== null) {
    refuse(receiver, unauthorized);
    return;
  }
  receiver.on("message", ({ message, delivery }: EventContext) => {
    if (message === undefined) return;
    turns.add(() => delivery?.accept());
    // Service Bus ignores a request that is too large, without a refusal.
    if (bytesOf(message) > limits.requestBytes[namespace.registry.sku]) return;
    const operation = String(message.application_properties?.["operation"]);
    const body = (message.body ?? {}) as Readonly<Record<string, unknown>>;
    const answer =
      address === "$cbs"
        ? putToken(namespace, claims, message)
        : (refusalOf(claims, address, operation) ?? manage(namespace, entity, operation, body));
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

/** Accepts a token for an entity. The token is the body of the message. */
function putToken({ access }: Namespace, claims: Claims, { application_properties: asked, body }: Message): Answer {
  const grant = access.read(String(body));
  const isRefused = "reason" in grant;
  if (!isRefused) claims.put(String(asked?.["name"]), grant);
  const [code, description] = isRefused ? [401, grant.reason] : [202, "Accepted"];
  return { application_properties: { "status-code": code, "status-description": description }, body: null };
}

/** Scheduling needs the right to send. All other requests about an entity need the right to receive. */
function refusalOf(claims: Claims, address: string, operation: string): Answer | null {
  const right = /schedule/.test(operation) ? "Send" : "Listen";
  const refusal = claims.refusalOf(address, [right]);
  if (refusal === null) return null;
  const { condition: errorCondition, description: statusDescription } = refusal;
  return { application_properties: { statusCode: 401, statusDescription, errorCondition }, body: null };
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
  sender?.send({ ...answer, application_properties: withStatusAsInt(answer.application_properties) });
}

/**
 * Service Bus answers with the type `int`, and the client for Java requires it. rhea would choose the smallest unsigned
 * one.
 */
function withStatusAsInt(properties: Message["application_properties"] = {}): Record<string, unknown> {
  const isStatus = (name: string): boolean => name === "statusCode" || name === "status-code";
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, isStatus(name) ? rhea.types.wrap_int(value) : value]),
  );
}
