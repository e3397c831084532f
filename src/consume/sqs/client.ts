import { SQSClient } from "@aws-sdk/client-sqs";

import type { CompiledSystem } from "../../brokers/index.ts";
import { parseTarget } from "../../brokers/index.ts";
import type { SqsConnection } from "./connection.ts";

/** How long SQS may take to answer what is no long poll. */
export const answerWithinMs = 20_000;

export function createClient(compiled: CompiledSystem<"sqs">, connection: SqsConnection): SQSClient {
  const { credentials } = connection;
  return new SQSClient({
    region: placeOf(compiled, connection).region,
    ...(connection.endpoint === undefined ? {} : { endpoint: connection.endpoint }),
    ...(credentials === undefined ? {} : { credentials: withoutTraces(credentials) }),
    // Whoever calls tries again, with growing pauses, and says so; what the SDK does in between nobody would see.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 5_000 },
  });
}

/** The SDK writes into the keys that it is given where they came from, and they are their owner's: another consumer may be started with them. */
function withoutTraces(credentials: NonNullable<SqsConnection["credentials"]>): typeof credentials {
  return typeof credentials === "function" ? credentials : { ...credentials };
}

/** Where a consumer's queues are. */
export interface Place {
  /** The endpoint, or the target: for whoever is refused there. */
  readonly where: string;
  readonly region: string;
}

export function placeOf(compiled: CompiledSystem<"sqs">, { endpoint, region }: SqsConnection): Place {
  return { where: endpoint ?? compiled.target, region: region ?? regionOf(compiled) };
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

/** Whether it is not the queue that may not be used, but the key that encrypts it. */
export function isOfKey(error: unknown): boolean {
  return /^kms/i.test(errorName(error));
}

/** Whether there is no such queue, or none that these credentials may see. */
export function isMissing(error: unknown): boolean {
  return /QueueDoesNotExist|NonExistentQueue/.test(errorName(error));
}
