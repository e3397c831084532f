import type { ConsumeMessage } from "amqplib";

import type { Letter } from "../../../operate/letter.ts";

const names = [
  "contentType",
  "contentEncoding",
  "deliveryMode",
  "priority",
  "correlationId",
  "replyTo",
  "expiration",
  "messageId",
  "timestamp",
  "type",
  "userId",
  "appId",
  "clusterId",
] as const;

/** A delivery of amqplib as a letter. */
export function readLetter({ fields, properties, content }: ConsumeMessage, position: number): Letter {
  const given = properties as unknown as Readonly<Record<string, unknown>>;
  const told = names.flatMap((name) => {
    const value = given[name];
    return typeof value === "string" || typeof value === "number" ? [[name, value] as const] : [];
  });
  const { exchange, routingKey, redelivered } = fields;
  return {
    position,
    exchange,
    routingKey,
    redelivered,
    headers: properties.headers ?? {},
    properties: Object.fromEntries(told),
    body: content,
  };
}
