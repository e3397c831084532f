import rhea, { type Message } from "rhea";

import type { MessageContent } from "./redeliver.ts";

export function decode(bytes: Buffer): Message {
  return rhea.message.decode(bytes) as unknown as Message;
}

/** The part of a message that the semantics looks at. */
export function contentOf(content: Message): MessageContent {
  return {
    messageId: String(content.message_id ?? ""),
    sessionId: content.group_id ?? null,
    subject: content.subject ?? null,
    properties: (content.application_properties ?? {}) as MessageContent["properties"],
  };
}

/** The time that the sender wants a message to be enqueued; null for at once. */
export function scheduledTimeOf({ message_annotations: annotations }: Message): number | null {
  const time: unknown = annotations?.["x-opt-scheduled-enqueue-time"];
  if (time instanceof Date) return time.getTime();
  return typeof time === "number" ? time : null;
}

/** The same message with more application properties. */
export function withProperties(content: Message, properties: Readonly<Record<string, unknown>>): Message {
  return { ...content, application_properties: { ...content.application_properties, ...properties } };
}
