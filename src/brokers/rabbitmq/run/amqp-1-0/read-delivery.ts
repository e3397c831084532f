import type { Delivery as RheaDelivery, Message } from "rhea";

import type { Delivery } from "../../../../consume/port/adapter.ts";
import { attemptOf } from "../../../../contract/attempt-number.ts";
import { headerIn } from "./annotation-name.ts";

/** Reads a message of rhea. It never throws, for any content. */
export function readDelivery10(message: Message, delivery: RheaDelivery): Delivery {
  const { message_id: id, delivery_count: failed, creation_time: time, correlation_id: correlation } = message;
  const routingKey: unknown = message.message_annotations?.["x-routing-key"];
  const headers = (message.application_properties ?? {}) as Readonly<Record<string, unknown>>;
  return {
    body: bodyOf(message.body),
    id: id === undefined || id === null || id === "" ? null : String(id),
    attempt: attemptOf({ from: "header" }, { earlierDeliveries: failed }) ?? 1,
    routingKey: typeof routingKey === "string" ? routingKey : null,
    headers,
    get carrier() {
      return { ...annotatedBy(message), ...headers };
    },
    publishedAt: time === undefined || time === null ? null : new Date(time),
    correlationId: correlation === undefined || correlation === null || correlation === "" ? null : String(correlation),
    raw: { message, delivery },
  };
}

/** The annotations of earlier attempts: an outcome cannot change headers. */
function annotatedBy({ message_annotations: annotations }: Message): Readonly<Record<string, unknown>> {
  const named = Object.entries((annotations ?? {}) as Readonly<Record<string, unknown>>);
  return Object.fromEntries(
    named.flatMap(([name, value]) => {
      const own = headerIn(name);
      return own === null ? [] : [[own, value]];
    }),
  );
}

/** Data sections are bytes. A value becomes its text or its JSON. */
function bodyOf(body: unknown): Uint8Array | string {
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  const content = (body as { readonly content?: unknown } | null | undefined)?.content;
  if (content instanceof Uint8Array) return content;
  if (Array.isArray(content) && content.every((each) => each instanceof Uint8Array)) return Buffer.concat(content);
  return JSON.stringify(body) ?? "";
}
