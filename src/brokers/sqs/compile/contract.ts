import type { BrokerContract } from "../../../contract/contract.ts";
import type { StatedFilter } from "../../../declare/system.ts";

/**
 * One operation of a consumer's code on SQS, for one outcome of an attempt. The fields and units are the AWS SDK's. With
 * no operation the consumer does nothing, and the message comes back after its visibility timeout.
 */
export type Operation = { readonly operation: "DeleteMessage" } | ChangeVisibilityOperation | SendOperation;

/**
 * Sets the time until a consumer may receive the message again, counted from now. SQS forgets it: the next receive uses
 * the queue's own value.
 */
export interface ChangeVisibilityOperation {
  readonly operation: "ChangeMessageVisibility";
  /**
   * A random whole number between the two, or the delay that the handler asked for, rounded up to whole seconds. It
   * ends at most 12 h after the receive.
   */
  readonly visibilityTimeoutSeconds: { readonly from: number; readonly to: number } | "asked";
}

/** Sends the same body and attributes, and goes on only when SQS has answered. */
export interface SendOperation {
  readonly operation: "SendMessage";
  /** The queue that receives the copy. */
  readonly queue: string;
  /** Attributes to set on the copy, of the type String, beside those of the message. A message has ten at most. */
  readonly attributes: Readonly<Record<string, string>>;
  /** On FIFO: the copy stays in the message's group. SQS keeps only one of two equal copies within five minutes. */
  readonly fifo?: { readonly messageGroupId: "kept"; readonly messageDeduplicationId: "message-id" };
}

/** The place that publishers send to, and the messages that arrive here. */
export type ContractSource = TopicSource | QueueSource;

/** Publishers send straight to the work queue. */
export interface QueueSource {
  readonly queue: string;
  /** A FIFO queue: every message needs a MessageGroupId, which is its key, and a MessageDeduplicationId. */
  readonly fifo: boolean;
  /** The most that SQS takes in one message. It refuses more. */
  readonly most: { readonly messageAttributes: number; readonly messageBytes: number };
}

export interface TopicSource {
  readonly topic: string;
  /** The message attribute, of the type String, that carries the routing key. */
  readonly routingKeyAttribute: "routing-key";
  readonly routingKeys: readonly string[] | "all";
  /**
   * Of a headers source: the message attributes, of the type String, with the values that come to the consumer. A
   * message needs one value of each. Left out for all messages.
   */
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
  /** Of an opaque source: the filter of SNS that a message has to pass. Left out for none. */
  readonly filterPolicy?: StatedFilter["filterPolicy"];
  /** The part of a message that the filter looks at: its attributes, unless this says otherwise. */
  readonly filterPolicyScope?: StatedFilter["filterPolicyScope"];
  /** A FIFO topic: every message needs a MessageGroupId, which is its key, and a MessageDeduplicationId. */
  readonly fifo: boolean;
  /**
   * The most that a publisher may put on one message. The topic refuses more bytes. It accepts more attributes,
   * routing-key among them, but delivers the message to no queue, so the message may be lost.
   */
  readonly most: { readonly messageAttributes: number; readonly messageBytes: number };
}

export function topicSources({ sources }: Pick<Contract, "sources">): readonly TopicSource[] {
  return sources.filter((source) => "topic" in source);
}

/**
 * A consumer that is a function of AWS Lambda. Lambda receives for it, and deletes the messages that the function's
 * answer does not name. The function does the operations of an outcome in order. Instead of `DeleteMessage`, it leaves
 * the message out of `batchItemFailures`. It names a message there by its id if the operations fail or do not end in a
 * `DeleteMessage`. A function must never throw, because that would return the whole batch.
 */
export interface LambdaContract {
  /** Its name or ARN, as in the target. */
  readonly function: string;
  /**
   * Lambda ends the function after this time. Every message of the batch has then failed, and waits for the queue's
   * visibility timeout.
   */
  readonly functionTimeoutMs: number;
  /** Messages of one invocation, at most. */
  readonly batchSize: number;
  /** The field of the function's answer that lists failed messages. */
  readonly answer: "batchItemFailures";
  /** Lambda deletes each message that the answer leaves out. */
  readonly deleted: "left-out";
  /** A message that the answer names stays in the queue until its visibility timeout. */
  readonly kept: "named";
}

/** The duties of the consumer's code that make the promises hold. */
export interface Contract extends BrokerContract<Operation> {
  /** The names of the operations are those of the SQS API. */
  readonly protocol: "sqs";
  /** The name of the queue, without its URL. A FIFO queue ends in `.fifo`. */
  readonly workQueue: string;
  /** SQS moves dead letters to it by the redrive policy. */
  readonly deadQueue: string;
  /** Null: crashes have no budget of their own, since every receive counts towards the attempts. */
  readonly crashDeliveries: null;
  /** The longest time from the first receive to the receive that moves the message, if consumers keep receiving. */
  readonly worstCaseToDeadLetterMs: number;
  /** The attempt is the message's `ApproximateReceiveCount`. The receive has to ask for it. */
  readonly attemptNumber: { readonly from: "receive-count" };
  /**
   * The way to ask for messages. A standard queue gives ten at most. A FIFO queue gives one, so that no message spends
   * its receives on the failures of another in its group. The consumer receives a message only when its handler can
   * begin. SQS returns only the attributes in the request. The count gives the attempt, and a copy for the dead queue
   * keeps the message's attributes and its group.
   */
  readonly receive: {
    readonly maxNumberOfMessages: 1 | 10;
    readonly messageSystemAttributeNames: readonly ("ApproximateReceiveCount" | "MessageGroupId")[];
    readonly messageAttributeNames: readonly ["All"];
  };
  /** Left out if the consumer receives by itself. Otherwise `receive` describes Lambda. */
  readonly lambda?: LambdaContract;
  /** The topics and queues that producers send to. */
  readonly sources: readonly ContractSource[];
  /**
   * Counted from the receive. In a Lambda function it counts from the start of the handler, since a received message
   * can wait for its turn.
   */
  readonly handlerTimeoutMs: number | null;
}
