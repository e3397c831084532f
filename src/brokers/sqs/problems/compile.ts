import { type CatalogueEntry, error, warning } from "../../../diagnostics/catalogue-entry.ts";

/** RD6xx: declarations that Amazon SQS alone cannot keep, or keeps only at a price. */
export const compileProblems = {
  RD609: error(
    "Retries take longer than SQS keeps a message",
    "SQS deletes a message 14 days after it was published, wherever it is, and does not move it to the dead queue. With these attempts and delays SQS could delete a message before its last attempt, without notice. Use fewer attempts or shorter delays.",
  ),
  RD610: error(
    "Dead letters cannot be kept so long",
    "SQS keeps a message for 14 days in all. On a standard queue the clock starts when the message is published and goes on in the dead queue, so retries shorten the stay there. On a FIFO queue it starts again. Choose a shorter time, and archive messages that have to stay longer.",
  ),
  RD611: warning(
    "One receive, then dead",
    "With one attempt the first receive is the last. SQS counts it when it sends the answer, and the answer can be lost, so a message can die before a handler saw it. AWS advises against it. Use at least two attempts, with a handler that can be repeated.",
  ),
  RD614: warning(
    "No whole second of jitter",
    "SQS counts whole seconds, so Redeliver spreads a delay over the whole seconds within its jitter. Here the only one is the delay itself, and messages that fail together come back together. Raise the jitter or the delay.",
  ),
  RD615: warning(
    "Fourteen days are short here",
    "SQS keeps a message for 14 days in all, in the work queue and in the dead queue together. Here one of the two gets less than 4 days, the default of SQS. SQS deletes older messages without notice. Handle dead letters soon, and let no consumer be away for long.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
