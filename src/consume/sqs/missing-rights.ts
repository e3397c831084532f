import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";

import { answerWithinMs, isDenied } from "./client.ts";
import type { Contract, Operation } from "./contract.ts";
import { neededOperations } from "./needed-actions.ts";

/** An action that SQS does not let these credentials do on a queue. */
export interface MissingRight {
  /** As policies call it: `sqs:DeleteMessage`. */
  readonly action: string;
  readonly queue: string;
  /** Null where not even that may be asked for. */
  readonly url: string | null;
  /** What SQS answered. */
  readonly error: unknown;
}

/** No queue has ever given it: those of SQS are Base64. */
const impossibleReceipt = "redeliver: may this consumer do that?";

/**
 * Finds out what the consumer will need and may not do on a queue, before a message depends on it. Each request is one that can change nothing, whoever
 * answers it: a receipt that no message has, or a batch of no messages. The rights to a batch are those to its single action, and AWS names that one in
 * its refusal: issue 3633 of aws/serverless-application-model.
 *
 * In which order SQS looks at rights and at content AWS does not say. If content came first nothing would be found here, and the first use would tell. So
 * any other answer than a refusal is none, and keeps nobody from beginning.
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
      // A single message whose content is wrong would not do: moto 5.2.5 takes one with an empty body.
      await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: [] }), options);
      return;
    default:
      operation satisfies never;
  }
}

/** Whoever has rights of their own for batches, as moto has, says nothing about the single action. */
function namesBatch(error: unknown): boolean {
  return error instanceof Error && /perform: sqs:\w*Batch/i.test(error.message);
}
