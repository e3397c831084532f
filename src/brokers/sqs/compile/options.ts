import type { Duration } from "../../../declare/duration.ts";

/** The options of a target beside its region. They change the resources, never the declaration's meaning. */
export interface SqsOptions {
  /**
   * The partition of a region that is newer than Redeliver: `"aws"`, `"aws-eusc"`. Without it Redeliver accepts only
   * known regions.
   */
  readonly partition?: string | undefined;
  /** The account that holds all resources, twelve digits. Redeliver checks the ARNs below against it. */
  readonly account?: string | undefined;
  /** A key of the account's own, by its id, alias or ARN. The default is SSE-SQS, with keys that Amazon manages. */
  readonly kmsKey?: string | undefined;
  /** Tags for every resource, beside Redeliver's own. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** The consumers with a dead queue that another program empties. Its depth alone would then raise no alarm. */
  readonly emptiedDeadQueues?: readonly string[] | undefined;
  /** By consumer: the Lambda function that receives its messages. Other consumers receive by themselves. */
  readonly lambda?: Readonly<Record<string, LambdaInput>> | undefined;
}

/** A function that Lambda hands messages of a queue to. Redeliver does not create the function. */
export interface LambdaInput {
  /** Its name or its ARN. An alias or a version may follow after a colon. */
  readonly function: string;
  /** The timeout of the function itself, for all messages of a batch together: whole seconds, 15 minutes at most. */
  readonly timeout: Duration;
  /** The most messages of one invocation. The default is 10, or 1 on a FIFO queue. */
  readonly batchSize?: number | undefined;
  /** The time that Lambda waits for a batch to fill: whole seconds, 5 minutes at most. The default is `"0s"`. */
  readonly batchWindow?: Duration | undefined;
  /** The most invocations at a time, from 2 on. The default is Lambda's own limit. */
  readonly maximumConcurrency?: number | undefined;
}
