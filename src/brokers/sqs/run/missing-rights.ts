import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";

import { answerWithinMs, isDenied } from "./client.ts";
import type { Contract, Operation } from "../compile/contract.ts";
import { neededOperations } from "./needed-actions.ts";

/** An action that SQS denies these credentials on a queue. */
export interface MissingRight {
  /** The action's name in policies: `sqs:DeleteMessage`. */
  readonly action: string;
  readonly queue: string;
  /** Null if the credentials may not even ask for it. */
  readonly url: string | null;
  readonly error: unknown;
}

/** No queue has ever returned this one: receipts of SQS are Base64. */
const impossibleReceipt = "redeliver: may this consumer do that?";

/**
 * Finds the missing rights of the consumer on a queue, before a message depends on them. No request can change
 * anything: it has a receipt that no message has, or a batch of no messages. The rights for a batch are those for its
 * single action, and AWS names that one in its refusal: issue 3633 of aws/serverless-application-model.
 *
 * AWS does not document whether SQS checks rights or content first. If content came first, this would find nothing, and
 * the first use would show the problem. So any answer other than a refusal lets the consumer start.
 */
export async function missingRights(
  client: SQSClient,
  { name, url }: { readonly name: string; readonly url: string },
  contract: Contract,
): Promise<readonly MissingRight[]> {
  const asked = neededOperations(contract, name).map(async (operation): Promise<readonly MissingRight[]> => {
    try {
      await ask(client, url, operation);
      return [];
    } catch (error) {
      return isDenied(error) && !namesBatch(error) ? [{ action: `sqs:${operation}`, queue: name, url, error }] : [];
    }
  });
  return (await Promise.all(asked)).flat();
}

async function ask(client: SQSClient, url: string, operation: Operation["operation"]): Promise<void> {
  const receipt = { QueueUrl: url, ReceiptHandle: impossibleReceipt };
  const options = { abortSignal: AbortSignal.timeout(answerWithinMs) };
  switch (operation) {
    case "DeleteMessage":
      await client.send(new DeleteMessageCommand(receipt), options);
      return;
    case "ChangeMessageVisibility":
      await client.send(new ChangeMessageVisibilityCommand({ ...receipt, VisibilityTimeout: 0 }), options);
      return;
    case "SendMessage":
      // A single message with wrong content would not do: moto 5.2.5 accepts one with an empty body.
      await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: [] }), options);
      return;
    default:
      operation satisfies never;
  }
}

/** A server with separate rights for batches, such as moto, says nothing about the single action. */
function namesBatch(error: unknown): boolean {
  return error instanceof Error && /perform: sqs:\w*Batch/i.test(error.message);
}
