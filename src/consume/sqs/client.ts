import { SQSClient } from "@aws-sdk/client-sqs";

import type { CompiledSystem } from "../../brokers/index.ts";
import { parseTarget } from "../../brokers/index.ts";
import type { SqsConnection } from "./connection.ts";

/** How long SQS may take to answer what is no long poll. */
export const answerWithinMs = 20_000;

export function createClient(compiled: CompiledSystem<"sqs">, connection: SqsConnection): SQSClient {
  return new SQSClient({
    region: connection.region ?? regionOf(compiled),
    ...(connection.endpoint === undefined ? {} : { endpoint: connection.endpoint }),
    ...(connection.credentials === undefined ? {} : { credentials: connection.credentials }),
    // Whoever calls tries again, with growing pauses, and says so; what the SDK does in between nobody would see.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 5_000 },
  });
}

function regionOf({ target }: CompiledSystem<"sqs">): string {
  const parsed = parseTarget<"sqs">(target as "sqs@");
  if (!parsed.ok) throw new Error(`${target} was compiled for and is no target`);
  return parsed.value.region;
}

/** What went wrong, as SQS or the SDK calls it. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** Whether SQS does not let these credentials in, or they are none any more. */
export function isRefusal(error: unknown): boolean {
  return /AccessDenied|Token|Signature|Security|Credentials|UnrecognizedClient|OptIn/.test(errorName(error));
}

/** Whether the keys are too old, so that new ones may be let in. */
export function isExpired(error: unknown): boolean {
  return /Expired/.test(errorName(error));
}

/** Whether who calls is known, and may not do this. That of a KMS key is one as well. */
export function isDenied(error: unknown): boolean {
  return /AccessDenied/.test(errorName(error));
}

/** Whether there is no such queue, or none that these credentials may see. */
export function isMissing(error: unknown): boolean {
  return /QueueDoesNotExist|NonExistentQueue/.test(errorName(error));
}
