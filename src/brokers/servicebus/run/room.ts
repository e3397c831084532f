import type { ServiceBusReceivedMessage } from "@azure/service-bus";

import type { Contract } from "../compile/contract.ts";
import type { AmqpMessage } from "./copy-message.ts";

/** The most bytes that AMQP writes around a name or a value. */
const aroundBytes = 5;
/**
 * A reserve for the fields that Service Bus adds to a message. They count as well, and their size is not documented.
 */
const brokersBytes = 512;

/**
 * The texts that fit among a message's properties, the first ones first. Texts that do not fit are left out, because
 * Service Bus would refuse the whole settlement each time.
 */
export function withRoom(
  message: ServiceBusReceivedMessage,
  texts: Readonly<Record<string, string>>,
  { mostPropertiesBytes }: Pick<Contract, "mostPropertiesBytes">,
): Readonly<Record<string, string>> {
  const own = [...Object.values(propertiesOf(message)), ...Object.entries(message.applicationProperties ?? {}).flat()];
  let left = mostPropertiesBytes - own.reduce<number>((bytes, each) => bytes + bytesOf(each) + aroundBytes, 0);
  const fitting = Object.entries(texts).filter(([name, text], index) => {
    const bytes = bytesOf(name) + bytesOf(text) + 2 * aroundBytes;
    // The first text, the reason of the death, may use the reserve.
    if (bytes > left - (index === 0 ? 0 : brokersBytes)) return false;
    left -= bytes;
    return true;
  });
  return Object.fromEntries(fitting);
}

/** A lower bound for the bytes of a message's properties. */
export function leastPropertiesBytes({ properties, applicationProperties }: AmqpMessage): number {
  const all = [...Object.values(properties ?? {}), ...Object.entries(applicationProperties ?? {}).flat()];
  return all.reduce<number>((bytes, each) => bytes + (typeof each === "string" ? Buffer.byteLength(each) : 0), 0);
}

function propertiesOf(message: ServiceBusReceivedMessage): object {
  // oxlint-disable-next-line no-underscore-dangle -- a public property of the SDK, whatever its name says
  return message._rawAmqpMessage.properties ?? {};
}

/** The bytes of a value without its frame. Numbers and times have at most 8. */
function bytesOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  return value instanceof Uint8Array ? value.length : 8;
}
