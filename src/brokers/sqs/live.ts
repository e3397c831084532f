import type { AnswerReader } from "../broker.ts";
import type { Deployment } from "./deployment.ts";
import { readDocuments } from "./read-listing.ts";

/** How a running SQS is read: by the answers that a file holds too. */
export const live: AnswerReader<Deployment> = Object.freeze({
  kind: "aws",
  schemes: Object.freeze(["sqs:"]),
  read: readDocuments,
});
