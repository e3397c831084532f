import { parseDurationMs } from "../../../declare/duration.ts";
import { lambdaLimits, sqsDefaults } from "./capabilities.ts";
import type { SqsOptions } from "./options.ts";

/** A consumer that is a Lambda function, with the default of every missing setting. Times are in seconds. */
export type LambdaConsumer = NonNullable<ReturnType<typeof lambdaOf>>;

/** @returns null for a consumer that receives by itself */
export function lambdaOf({ lambda = {} }: SqsOptions, consumer: string, fifo: boolean) {
  const own = Object.hasOwn(lambda, consumer) ? lambda[consumer] : undefined;
  if (own === undefined) return null;
  return Object.freeze({
    functionName: own.function,
    timeoutSeconds: parseDurationMs(own.timeout) / 1_000,
    batchSize: own.batchSize ?? (fifo ? 1 : sqsDefaults.lambdaBatchSize),
    batchWindowSeconds: own.batchWindow === undefined ? 0 : parseDurationMs(own.batchWindow) / 1_000,
    /** Null for Lambda's own limit. */
    maximumConcurrency: own.maximumConcurrency ?? null,
  });
}

/**
 * The time that a queue has to hide messages that Lambda receives: six times the function's timeout, plus the batch
 * window. Lambda keeps a throttled batch for as long as it is hidden. Source: Lambda Developer Guide, "Configuring a
 * queue to use with Lambda".
 */
export function visibilityForLambda({ timeoutSeconds, batchWindowSeconds }: LambdaConsumer): number {
  return lambdaLimits.visibilityFactor * timeoutSeconds + batchWindowSeconds;
}
