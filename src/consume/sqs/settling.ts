import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";

import type { SettleValues } from "../adapter.ts";
import { NotOursError } from "../adapter.ts";
import { answerWithinMs, errorName, isRefusal } from "./client.ts";
import { chosenSeconds, type Operation, type SendOperation } from "./contract.ts";
import { copyAttributes } from "./copy-attributes.ts";

/** A message in the consumer's hands. */
export interface HeldMessage {
  readonly message: Message;
  /** Until then SQS certainly hides it from others. */
  readonly hiddenUntilMs: number;
  /** The operations that were begun, and how many of them are done: a second try must not send a second copy. */
  begun: { readonly operations: readonly Operation[]; count: number } | null;
}

export interface Settling {
  readonly client: () => SQSClient;
  readonly renew: () => void;
  readonly workQueueUrl: string;
  /** The URL of another queue that the contract names. */
  readonly urlOf: (queue: string) => string;
}

/** Does operations in order, each when SQS has answered the one before. What was done in a try before is not done again. */
export async function settle(
  settling: Settling,
  held: HeldMessage,
  operations: readonly Operation[],
  values: SettleValues,
): Promise<void> {
  if (held.begun?.operations !== operations) held.begun = { operations, count: 0 };
  const { begun } = held;
  for (const operation of operations.slice(begun.count)) {
    refuseLate(held, operation);
    try {
      await perform(settling, held.message, operation, values);
    } catch (error) {
      if (isRefusal(error)) settling.renew();
      if (operation.operation !== "SendMessage" && isStale(error)) throw new NotOursError(error);
      throw error;
    }
    begun.count++;
  }
}

/**
 * When the visibility timeout is over somebody else may have the message, and a copy would be one too many, a new timeout theirs. A message that
 * is done is deleted at any time: also whoever has it by then has a duplicate.
 */
function refuseLate({ hiddenUntilMs }: HeldMessage, { operation }: Operation): void {
  if (operation === "DeleteMessage" || performance.now() < hiddenUntilMs) return;
  throw new NotOursError(new Error("the visibility timeout of the message is over"));
}

/** SQS does not take the receipt: on FIFO it has expired, or a visibility timeout would end more than 12 h after the receive. */
function isStale(error: unknown): boolean {
  return /ReceiptHandleIsInvalid|MessageNotInflight|InvalidParameterValue/.test(errorName(error));
}

async function perform(
  { client, workQueueUrl, urlOf }: Settling,
  message: Message,
  operation: Operation,
  values: SettleValues,
): Promise<void> {
  const receipt = { QueueUrl: workQueueUrl, ReceiptHandle: message.ReceiptHandle ?? "" };
  const options = { abortSignal: AbortSignal.timeout(answerWithinMs) };
  switch (operation.operation) {
    case "DeleteMessage":
      await client().send(new DeleteMessageCommand(receipt), options);
      return;
    case "ChangeMessageVisibility": {
      const VisibilityTimeout = chosenSeconds(operation, values.askedDelayMs);
      await client().send(new ChangeMessageVisibilityCommand({ ...receipt, VisibilityTimeout }), options);
      return;
    }
    case "SendMessage":
      await client().send(copyOf(message, operation, urlOf(operation.queue), values), options);
      return;
    default:
      operation satisfies never;
  }
}

function copyOf(message: Message, operation: SendOperation, url: string, values: SettleValues): SendMessageCommand {
  return new SendMessageCommand({
    QueueUrl: url,
    MessageBody: message.Body ?? "",
    MessageAttributes: copyAttributes(message, operation, values),
    ...(operation.fifo === undefined
      ? {}
      : { MessageGroupId: message.Attributes?.MessageGroupId, MessageDeduplicationId: message.MessageId }),
  });
}
