import type { ServiceBusClient, ServiceBusSender } from "@azure/service-bus";

import { codeOf } from "./client.ts";
import type { Contract } from "../compile/contract.ts";
import type { AmqpMessage } from "./copy-message.ts";
import { leastPropertiesBytes } from "./room.ts";

/** Service Bus refuses a copy for its content or size, and would refuse it again. */
export class TooLargeError extends Error {
  override readonly name = "TooLargeError";
}

/**
 * Sends copies to one queue.
 *
 * @throws TooLargeError if Service Bus would never accept the copy
 */
export type SendCopy = (copy: AmqpMessage) => Promise<void>;

export function createSendCopy(
  client: ServiceBusClient,
  queue: string,
  { mostPropertiesBytes }: Pick<Contract, "mostPropertiesBytes">,
): SendCopy {
  const sender = client.createSender(queue);
  lookAtBytes(sender, queue);
  return async (copy) => {
    compare("the properties of a copy have", leastPropertiesBytes(copy), mostPropertiesBytes, queue);
    try {
      await sender.sendMessages(copy);
    } catch (error) {
      if (isAboutTheCopy(error)) throw new TooLargeError(`${queue} refuses a copy of it`, { cause: error });
      throw error;
    }
  };
}

/**
 * Parts of the SDK without a public interface: the bytes that it sends, and its time limit for them. Source: 7.9.5,
 * `MessageSender`.
 */
interface Internals {
  _retryOptions: object;
  /** A later SDK may lack it. Then only Service Bus reports a message that is too large. */
  _trySend?: (encoded: Uint8Array, ...rest: readonly unknown[]) => Promise<void>;
}

/**
 * The time limit for a message of more than `largeBytes`: Microsoft asks for more than a minute. Source:
 * azure-sdk-for-net issue 25381.
 */
const largeWithinMs = 120_000;
const largeBytes = 1_048_576;

/**
 * Compares the encoded size with the link's limit, like the SDK for .NET and unlike this one. A peer may end the link
 * on a message that is too large, and the SDK would wait in vain for the answer. Source: AMQP 1.0, 2.7.3,
 * `max-message-size`.
 */
function lookAtBytes(sender: ServiceBusSender, queue: string): void {
  // oxlint-disable-next-line no-underscore-dangle -- it is private, and there is no other way
  const internals = (sender as unknown as { readonly _sender: Internals })._sender;
  // oxlint-disable-next-line no-underscore-dangle -- the same
  const { _retryOptions: usual, _trySend: trySend } = internals;
  if (trySend === undefined) return;
  // oxlint-disable-next-line no-underscore-dangle -- the same
  internals._trySend = async (encoded, ...rest) => {
    // The entity's limit, which came with the link. None, or 0, is no limit.
    const { maxSizeInBytes } = await sender.createMessageBatch();
    compare("a copy of it has", encoded.length, maxSizeInBytes || Number.POSITIVE_INFINITY, queue);
    const isLarge = encoded.length > largeBytes;
    // oxlint-disable-next-line no-underscore-dangle -- the same
    internals._retryOptions = isLarge ? { ...usual, timeoutInMs: largeWithinMs } : usual;
    return trySend.call(internals, encoded, ...rest);
  };
}

function compare(what: string, bytes: number, mostBytes: number, queue: string): void {
  if (bytes <= mostBytes) return;
  const [has, takes] = [bytes.toLocaleString("en"), mostBytes.toLocaleString("en")];
  throw new TooLargeError(`${what} ${has} bytes, and ${queue} takes ${takes}`);
}

/**
 * If the SDK has no code for an error, it puts the error's name at the beginning of the text. Source: 7.9.5,
 * `ServiceBusError`.
 */
function isAboutTheCopy(error: unknown): boolean {
  const code = codeOf(error);
  if (code === "MessageSizeExceeded") return true;
  return code === "GeneralError" && /^Argument(OutOfRange)?Error: /.test((error as Error).message);
}
