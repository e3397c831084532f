import { type CatalogueEntry, error } from "../../../diagnostics/catalogue-entry.ts";

/** Reasons why a consumer of SQS does not start. */
export const runProblems = {
  RD809: error(
    "The consumer is a Lambda function",
    "The target says that Lambda receives this consumer's messages. A second program that receives from the same queue would take messages away from the function, and each receive counts. Run the consumer in one place: in the function, or here.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
