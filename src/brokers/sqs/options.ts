import type { Duration } from "../../declare/duration.ts";

/** What a target says of AWS besides its region: nothing of it changes what is declared, all of it changes what is made. */
export interface SqsOptions {
  /** The account that everything is made in, twelve digits. With it the ARNs below are checked against it. */
  readonly account?: string | undefined;
  /** A key of the account's own, by its id, alias or ARN. Without one it is SSE-SQS, with keys that Amazon manages. */
  readonly kmsKey?: string | undefined;
  /** On everything that is made, beside the tags of Redeliver's own. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** The consumers whose dead queue another program empties: its depth alone would then raise no alarm. */
  readonly emptiedDeadQueues?: readonly string[] | undefined;
  /** By consumer: the function of AWS Lambda that its messages are handed to. Other consumers receive by themselves. */
  readonly lambda?: Readonly<Record<string, LambdaInput>> | undefined;
}

/** A function that Lambda hands messages of a queue to. The function itself is made elsewhere. */
export interface LambdaInput {
  /** Its name, or its ARN; an alias or a version may follow after a colon. */
  readonly function: string;
  /** The timeout of the function itself, for all messages of a batch together: whole seconds, 15 minutes at most. */
  readonly timeout: Duration;
  /** Messages of one invocation at most. 10 unless said otherwise, 1 on a FIFO queue. */
  readonly batchSize?: number | undefined;
  /** How long Lambda waits for a batch to fill: whole seconds, 5 minutes at most. `"0s"` unless said otherwise. */
  readonly batchWindow?: Duration | undefined;
  /** Invocations at a time at most, from 2 on. Lambda's own limit unless said otherwise. */
  readonly maximumConcurrency?: number | undefined;
}
