import type { BrokerContract, Outcome as BrokerOutcome } from "../contract.ts";

/** What a consumer's code does with SQS for one outcome of an attempt. Fields are what the AWS SDK takes, in its units. */
export type Operation = { readonly operation: "DeleteMessage" } | ChangeVisibilityOperation | SendOperation;

/** Says when the message may be received again, counted from now. It is not remembered: the next receive uses the queue's own value. */
export interface ChangeVisibilityOperation {
  readonly operation: "ChangeMessageVisibility";
  /**
   * A random whole number between the two, or the delay that the handler asked for, rounded up to whole seconds. It ends, at the
   * latest, 12 h after the receive.
   */
  readonly visibilityTimeoutSeconds: { readonly from: number; readonly to: number } | "asked";
}

/** Sends the same body and attributes, and goes on only when SQS has answered. */
export interface SendOperation {
  readonly operation: "SendMessage";
  readonly queue: string;
  /** Attributes to set on the copy, of the type String, beside those of the message. A message has ten at most. */
  readonly attributes: Readonly<Record<string, string>>;
  /** On FIFO: the copy stays in the message's group, and a copy that is sent twice within five minutes is one. */
  readonly fifo?: { readonly messageGroupId: "kept"; readonly messageDeduplicationId: "message-id" };
}

/**
 * Operations in order: the next one only when the one before has succeeded. With none the consumer does nothing, and the message
 * comes back when its visibility timeout has passed.
 */
export type Outcome = BrokerOutcome<Operation>;

/** A topic that publishers send to, and what of it arrives here. */
export interface ContractSource {
  readonly topic: string;
  /** The message attribute, of the type String, that carries the routing key. */
  readonly routingKeyAttribute: "routing-key";
  readonly routingKeys: readonly string[] | "all";
  /** A FIFO topic: every message needs a MessageGroupId, which is its key, and a MessageDeduplicationId. */
  readonly fifo: boolean;
}

/**
 * A consumer that is a function of AWS Lambda. Lambda receives for it, and deletes what the function's answer leaves out: the function
 * does the operations of an outcome in order, and answers for a `DeleteMessage` by leaving the message out of `batchItemFailures`. A
 * message whose operations end in no `DeleteMessage`, or fail, is named there by its id. A function never throws: that would give back
 * the whole batch.
 */
export interface LambdaContract {
  readonly function: string;
  /** When Lambda ends the function; every message of the batch has then failed, and waits for the queue's visibility timeout. */
  readonly functionTimeoutMs: number;
  /** Messages of one invocation, at most. */
  readonly batchSize: number;
  readonly answer: "batchItemFailures";
  readonly deleted: "left-out";
  readonly kept: "named";
}

/** What the consumer's code must do for the promises to hold. */
export interface Contract extends BrokerContract<Operation> {
  readonly protocol: "sqs";
  readonly workQueue: string;
  readonly deadQueue: string;
  /** Null: crashes have no budget of their own, since every receive counts towards the attempts. */
  readonly crashDeliveries: null;
  /** From the first receive until the receive that moves the message, at the latest, if somebody is receiving. */
  readonly worstCaseToDeadLetterMs: number;
  /** The attempt is the message's `ApproximateReceiveCount`, which has to be asked for in the receive. */
  readonly attemptNumber: { readonly from: "receive-count" };
  /**
   * How to ask for messages. Ten at most on a standard queue; one on a FIFO queue, so that no message spends its receives on the
   * failures of another one of its group. No message is received before its handler can begin. SQS gives only what is asked for: the
   * count tells the attempt, and a copy for the dead queue keeps the message's own attributes and its group.
   */
  readonly receive: {
    readonly maxNumberOfMessages: 1 | 10;
    readonly messageSystemAttributeNames: readonly ("ApproximateReceiveCount" | "MessageGroupId")[];
    readonly messageAttributeNames: readonly ["All"];
  };
  /** Left out where the consumer receives by itself. With it, `receive` is what Lambda does. */
  readonly lambda?: LambdaContract;
  readonly sources: readonly ContractSource[];
  /** Counted from the receive; in a function of Lambda from the beginning of the handler, since a receive can wait for its turn. */
  readonly handlerTimeoutMs: number | null;
}
