import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";

import { type SettleValues, NotOursError } from "../../../consume/port/adapter.ts";
import { type Progress, performAll } from "../../../consume/port/perform-all.ts";
import { answerWithinMs, errorName, isRefusal } from "./client.ts";
import type { Operation, SendOperation } from "../compile/contract.ts";
import { drawnDelay } from "../../../contract/interpret.ts";
import { copyAttributes } from "./copy-attributes.ts";

export interface ReceivedMessage {
  readonly message: Message;
  /** Until this time SQS certainly hides it from others. */
  readonly hiddenUntilMs: number;
  readonly progress: Progress<Operation>;
}

export interface Settling {
  readonly client: () => SQSClient;
  readonly renew: () => void;
  readonly workQueueUrl: string;
  /** The URL of another queue that the contract names. */
  readonly urlOf: (queue: string) => string;
}

/** Does operations in order, each after SQS has answered the one before. */
export function settleMessage(
  settling: Settling,
  held: ReceivedMessage,
  operations: readonly Operation[],
  values: SettleValues,
): Promise<void> {
  return performAll(held.progress, operations, async (operation) => {
    refuseLate(held, operation);
    try {
      await perform(settling, held.message, operation, values);
    } catch (error) {
      if (isRefusal(error)) settling.renew();
      if (operation.operation !== "SendMessage" && isStale(error)) throw new NotOursError(error);
      throw error;
    }
  });
}

/**
 * After the visibility timeout another consumer may have the message. Then a copy would be one too many, and a new
 * timeout would change the other's. A handled message is deleted at any time: if another consumer has it by then, that
 * is a duplicate.
 */
function refuseLate({ hiddenUntilMs }: ReceivedMessage, { operation }: Operation): void {
  if (operation === "DeleteMessage" || performance.now() < hiddenUntilMs) return;
  throw new NotOursError(new Error("the visibility timeout of the message is over"));
}

/**
 * SQS does not accept the receipt: on FIFO it has expired, or a visibility timeout would end more than 12 h after the
 * receive.
 */
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
      const { askedDelayMs } = values;
      // SQS counts in whole seconds, and no attempt may come early.
      const askedSeconds = askedDelayMs === null ? null : Math.ceil(askedDelayMs / 1_000);
      const VisibilityTimeout = drawnDelay(operation.visibilityTimeoutSeconds, askedSeconds, Math.random());
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
    ...(operation.fifo !== undefined && {
      MessageGroupId: message.Attributes?.MessageGroupId,
      MessageDeduplicationId: message.MessageId,
    }),
  });
}
