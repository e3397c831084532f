import { SQSClient } from "@aws-sdk/client-sqs";

import type { SqsCompiled } from "../compile/compile.ts";
import type { SqsConnection } from "./connection.ts";

/** The time limit for an answer of SQS that is not a long poll. */
export const answerWithinMs = 20_000;

export function createClient(compiled: SqsCompiled, connection: SqsConnection): SQSClient {
  const { credentials } = connection;
  return new SQSClient({
    region: placeOf(compiled, connection).region,
    ...(connection.endpoint === undefined ? {} : { endpoint: connection.endpoint }),
    ...(credentials === undefined ? {} : { credentials: withoutTraces(credentials) }),
    // The caller retries with growing pauses and reports it. Retries inside the SDK would stay hidden.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 5_000 },
  });
}

/**
 * The SDK notes the origin of keys in the object that it gets. The object belongs to its owner and may serve another
 * consumer, so this copies it.
 */
function withoutTraces(credentials: NonNullable<SqsConnection["credentials"]>): typeof credentials {
  return typeof credentials === "function" ? credentials : { ...credentials };
}

export type Place = ReturnType<typeof placeOf>;

export function placeOf(compiled: SqsCompiled, { endpoint, region }: SqsConnection) {
  // The endpoint or the target, for the text of a refusal.
  const where = endpoint ?? compiled.target;
  // Compiling has checked the region. It may be one that only a target file can name.
  return { where, region: region ?? compiled.target.slice("sqs@".length) };
}

/** The error's name, from SQS or from the SDK. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** True if SQS refuses these credentials, or if they have expired. */
export function isRefusal(error: unknown): boolean {
  return /AccessDenied|Token|Signature|Security|Credentials|UnrecognizedClient|OptIn/.test(errorName(error));
}

/** True if the keys are too old, so that new ones may be accepted. */
export function isExpired(error: unknown): boolean {
  return /Expired/.test(errorName(error));
}

/** True if the caller is known but may not do this. Missing rights to a KMS key count, too. */
export function isDenied(error: unknown): boolean {
  return /AccessDenied/.test(errorName(error));
}

/** True if not the queue is refused, but the key that encrypts it. */
export function isOfKey(error: unknown): boolean {
  return /^kms/i.test(errorName(error));
}

/** True if SQS or the network failed, so that the same request may succeed later. */
export function isOutage(error: unknown): boolean {
  const isOfSdk = error instanceof Error && ("$metadata" in error || /Timeout|Abort/.test(error.name));
  return isOfSdk && !isRefusal(error) && !isMissing(error);
}

/** True if there is no such queue, or none that these credentials may see. */
export function isMissing(error: unknown): boolean {
  return /QueueDoesNotExist|NonExistentQueue/.test(errorName(error));
}
