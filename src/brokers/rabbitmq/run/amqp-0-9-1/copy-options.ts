import type { ConsumeMessage, Options } from "amqplib";

import type { SettleValues } from "../../../../consume/port/adapter.ts";
import type { PublishOperation } from "../../compile/contract.ts";
import { drawnDelay } from "../../../../contract/interpret.ts";

/** The options for publishing a copy: all properties of its message, with the contract's additions and removals. */
export function copyOptions(
  message: ConsumeMessage,
  messageId: string,
  operation: PublishOperation,
  values: SettleValues,
): Options.Publish {
  const { properties, fields } = message;
  const headers: Record<string, unknown> = { ...properties.headers };
  for (const name of operation.removeHeaders) delete headers[name];
  const keep = operation.copyRoutingKeyTo;
  if (keep !== undefined && !(keep in headers)) headers[keep] = fields.routingKey;
  const { expirationMs } = operation;
  return {
    contentType: properties.contentType as string,
    contentEncoding: properties.contentEncoding as string,
    deliveryMode: properties.deliveryMode as number,
    priority: properties.priority as number,
    correlationId: properties.correlationId as string,
    replyTo: properties.replyTo as string,
    timestamp: properties.timestamp as number,
    type: properties.type as string,
    appId: properties.appId as string,
    messageId,
    mandatory: operation.mandatory,
    // Only the headers that the contract puts on a dead letter differ.
    headers: {
      ...headers,
      ...(operation.headers === undefined ? {} : { ...operation.headers, ...values.deadLetter }),
      ...values.carried,
    },
    ...(expirationMs !== null && { expiration: String(drawnDelay(expirationMs, values.askedDelayMs, Math.random())) }),
  };
}
