import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import { errorName } from "./client.ts";

/** What SQS said, by name and in its own words. */
export function saidBy(error: unknown): string {
  return `${errorName(error)}: ${error instanceof Error ? error.message : String(error)}`;
}

/** @param where the endpoint, or the target */
export function notAllowed(error: unknown, where: string): Diagnostic {
  return diagnostic("RD807", {
    path: "options.connection",
    message: `SQS refuses these credentials at ${where}`,
    notes: [
      saidBy(error),
      "a consumer needs sqs:GetQueueUrl and sqs:GetQueueAttributes on both queues, sqs:ReceiveMessage, sqs:DeleteMessage and sqs:ChangeMessageVisibility on the work queue, and sqs:SendMessage on the dead queue",
    ],
    help: "give them to the role that the consumer runs as, or correct its credentials",
  });
}
