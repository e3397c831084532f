import type { StatedFilter } from "../../../declare/system.ts";

/** The encryption of a queue's messages. Amazon manages the keys of SSE-SQS; a KMS key is the account's own. */
export type SqsEncryption =
  | { readonly kind: "sqs" }
  | {
      readonly kind: "kms";
      /** The id, the ARN or the alias of the key. */
      readonly keyId: string;
    };

/**
 * The queues that may name this one as their dead queue. More than ten source queues would silently allow every queue.
 */
export type RedriveAllow =
  | { readonly permission: "allowAll" }
  | { readonly permission: "denyAll" }
  | {
      readonly permission: "byQueue";
      /** The names of the queues that may use it. */
      readonly sourceQueues: readonly string[];
    };

/** A queue, with every attribute that Redeliver relies on. Times are in seconds, as in SQS. */
export interface SqsQueue {
  /** Other resources use this name too. Its URL and ARN are known once it exists. A FIFO queue ends in `.fifo`. */
  readonly name: string;
  /** `undelivered` holds messages that a topic could not deliver to a queue. */
  readonly role: "work" | "dead" | "parked" | "undelivered";
  /** The consumer it belongs to; null for a shared one. */
  readonly consumer: string | null;
  /** A FIFO queue keeps the order within each message group. */
  readonly fifo: boolean;
  /** 0 to 43 200, counted from the receive. */
  readonly visibilityTimeoutSeconds: number;
  /** 60 to 1 209 600. SQS deletes older messages and does not dead-letter them. */
  readonly retentionSeconds: number;
  /** 0 to 900. */
  readonly delaySeconds: number;
  /** 0 to 20; 20 is long polling. */
  readonly receiveWaitSeconds: number;
  /** Encryption at rest: by a key of SQS, or by one of KMS. */
  readonly encryption: SqsEncryption;
  /**
   * After this many receives, the next receive moves the message to the dead queue; null for a queue where messages
   * end.
   */
  readonly redrive: {
    /** The name of the dead queue. */
    readonly deadQueue: string;
    /** The most receives of one message, from 1 to 1 000. */
    readonly maxReceiveCount: number;
  } | null;
  /** The queues that may use this one as their dead queue. */
  readonly redriveAllow: RedriveAllow;
  /** The topics that may send, by name, besides the account's own principals. Every request must use TLS. */
  readonly sendersTopics: readonly string[];
  /** The rules of EventBridge and the buckets of S3 that may send, by ARN. Left out if there are none. */
  readonly sendersServices?: readonly string[];
}

/** A declared source. Publishers send to it, and each consumer that asks for a message receives its own copy. */
export interface SnsTopic {
  /** The topic of another owner has its whole ARN here. Redeliver subscribes to it and never makes or changes it. */
  readonly name: string;
  /** The source of the declaration that it stands for. */
  readonly source: string;
  /** A FIFO topic keeps the order within each message group. */
  readonly fifo: boolean;
  /** Set if somebody else made it. */
  readonly owner?: "other";
}

export interface SnsSubscription {
  /** The name of the topic that messages come from. */
  readonly topic: string;
  /** The name of the queue that receives them. */
  readonly queue: string;
  /** The consumer that asks for them. */
  readonly consumer: string;
  /** On message attributes; null takes everything. */
  readonly filterPolicy: Readonly<Record<string, readonly unknown[]>> | null;
  /** The filter that the declaration states in the words of SNS. The model does not follow it: any message may pass. */
  readonly stated?: StatedFilter;
  /** The queue receives the publisher's body and attributes, not an envelope. */
  readonly rawMessageDelivery: true;
  /** The queue for a message that the topic could not deliver. No message that a handler fails on comes here. */
  readonly deadQueue: string;
}

/** Hands messages of a work queue to a Lambda function, and deletes those that the function does not return. */
export interface LambdaMapping {
  /** The queue that Lambda polls. */
  readonly queue: string;
  /** The consumer that the function handles messages for. */
  readonly consumer: string;
  /** Its name or ARN, as in the target. */
  readonly functionName: string;
  /** The most messages of one invocation. */
  readonly batchSize: number;
  /** The longest time that Lambda collects messages for a batch. */
  readonly batchWindowSeconds: number;
  /** Null for Lambda's own limit. */
  readonly maximumConcurrency: number | null;
  /** Without it a function returns all messages of a batch or none. */
  readonly functionResponseTypes: readonly ["ReportBatchItemFailures"];
}

/** A CloudWatch alarm that fires above the threshold; missing data is no alarm. */
export interface DepthAlarm {
  /** Its name in CloudWatch. */
  readonly name: string;
  /** The queue that it watches. */
  readonly queue: string;
  /** A metric of CloudWatch in the namespace `AWS/SQS`. */
  readonly metric: "ApproximateNumberOfMessagesVisible" | "NumberOfMessagesReceived";
  /** The alarm rings above this number of messages. */
  readonly threshold: number;
  /** The time that one value of the metric covers. */
  readonly periodSeconds: number;
}

/** All resources in the account and region, in an order of creation that works. */
export interface SqsTopology {
  /** Tells the topologies of brokers apart. */
  readonly broker: "sqs";
  /** The target as on the command line. */
  readonly target: string;
  /** The name of the system, which begins the names of its resources. */
  readonly system: string;
  /** Work queues, dead queues, and those for messages that a topic could not deliver. */
  readonly queues: readonly SqsQueue[];
  /** The sources. */
  readonly topics: readonly SnsTopic[];
  /** The ways from topics to work queues. */
  readonly subscriptions: readonly SnsSubscription[];
  /** The Lambda functions that consume, if the target names any. */
  readonly mappings: readonly LambdaMapping[];
  /** The alarms of CloudWatch that the declaration asks for. */
  readonly alarms: readonly DepthAlarm[];
  /** Tags for every resource that can have tags, beside those for the system, the consumer and the role. */
  readonly tags: Readonly<Record<string, string>>;
}
