import type { AnyContract, Death, LetterReader } from "./letter.ts";
import { readPath, readText } from "./read-path.ts";
import { read } from "./summarise.ts";

/**
 * A message as `@aws-sdk/client-sqs` receives it. What SQS records of a move is the queue that it came from, and that only where the receive
 * asked for it: `MessageSystemAttributeNames: ["DeadLetterQueueSourceArn"]`. The receive count tells nothing: it goes on in the dead queue,
 * with every look at the letter. Source: SQS API Reference, `ReceiveMessage`.
 */
export const readSqsLetter: LetterReader = (message, contract) => {
  if (readText(message, "ReceiptHandle") === undefined) return null;
  const sourceArn = readText(message, "Attributes", "DeadLetterQueueSourceArn");
  return {
    written: (field) => readText(readPath(message, "MessageAttributes"), field, "StringValue"),
    death: sourceArn === undefined ? null : movedFrom(queueOf(sourceArn), contract),
    // A message keeps its id when SQS moves it; a copy that a consumer sent has got a new one.
    messageId: sourceArn === undefined ? undefined : readText(message, "MessageId"),
    // A copy that a consumer sends was moved by nobody.
    isRewritten: sourceArn !== undefined,
  };
};

function queueOf(arn: string): string {
  return arn.slice(arn.lastIndexOf(":") + 1);
}

/** SQS moves a message for one reason: it has had all its receives. Only with the contract is it known how many that are. */
function movedFrom(queue: string, contract: AnyContract | undefined): Death {
  return contract?.protocol === "sqs" && read(contract, "workQueue") === queue
    ? { queue, reason: "ATTEMPTS_EXHAUSTED", attempts: contract.attempts.length }
    : { queue };
}
