import type { AnyContract } from "../../../contract/contract.ts";
import type { Death, LetterReader } from "../../../consume/port/dead-letter.ts";
import { read, readPath, readText } from "../../../consume/port/read-path.ts";

/**
 * A message as `@aws-sdk/client-sqs` receives it. Of a move SQS records only the source queue, and shows it only if the
 * receive asked for it: `MessageSystemAttributeNames: ["DeadLetterQueueSourceArn"]`. The receive count says nothing: it
 * goes on in the dead queue, with every look at the letter. Source: SQS API Reference, `ReceiveMessage`.
 */
export const readSqsLetter: LetterReader = (message, contract) => {
  if (readText(message, "ReceiptHandle") === undefined) return null;
  const sourceArn = readText(message, "Attributes", "DeadLetterQueueSourceArn");
  return {
    written: (field) => readText(readPath(message, "MessageAttributes"), field, "StringValue"),
    death: sourceArn === undefined ? null : movedFrom(sourceArn.slice(sourceArn.lastIndexOf(":") + 1), contract),
    // A message keeps its id when SQS moves it. A copy that a consumer sent has a new one.
    messageId: sourceArn === undefined ? undefined : readText(message, "MessageId"),
    // SQS did not move a copy that a consumer sent.
    isRewritten: sourceArn !== undefined,
  };
};

/** SQS moves a message for one reason: it has had all its receives. Only the contract tells how many those are. */
function movedFrom(queue: string, contract: AnyContract | undefined): Death {
  return contract?.protocol === "sqs" && read(contract, "workQueue") === queue
    ? { queue, reason: "ATTEMPTS_EXHAUSTED", attempts: contract.attempts.length }
    : { queue };
}
