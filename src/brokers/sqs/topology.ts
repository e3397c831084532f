/** How a queue's messages lie on disk. SSE-SQS is what Amazon manages; a KMS key is the account's own. */
export type SqsEncryption = { readonly kind: "sqs" } | { readonly kind: "kms"; readonly keyId: string };

/** Who may name a queue as the end of its messages. More than ten source queues would silently mean everybody. */
export type RedriveAllow =
  | { readonly permission: "denyAll" }
  | { readonly permission: "byQueue"; readonly sourceQueues: readonly string[] };

/** A queue, with every attribute that is relied on. Times are in seconds, as SQS takes them. */
export interface SqsQueue {
  /** Also the way in which other resources name it; its URL and ARN are known once it is there. A FIFO queue ends in `.fifo`. */
  readonly name: string;
  /** `undelivered` holds what a topic could not hand over to a queue. */
  readonly role: "work" | "dead" | "undelivered";
  /** The consumer it belongs to; null for a shared one. */
  readonly consumer: string | null;
  readonly fifo: boolean;
  /** 0 to 43 200, counted from the receive. */
  readonly visibilityTimeoutSeconds: number;
  /** 60 to 1 209 600. What is older is deleted, not dead-lettered. */
  readonly retentionSeconds: number;
  /** 0 to 900. */
  readonly delaySeconds: number;
  /** 0 to 20; 20 is long polling. */
  readonly receiveWaitSeconds: number;
  readonly encryption: SqsEncryption;
  /** A message goes to the dead queue on the receive after the last of so many; null for a queue where messages end. */
  readonly redrive: { readonly deadQueue: string; readonly maxReceiveCount: number } | null;
  readonly redriveAllow: RedriveAllow;
  /** The topics that may send, by name, besides the account's own principals. TLS is always demanded. */
  readonly sendersTopics: readonly string[];
}

/** A declared source. Publishers send to it, and every consumer that asks for a message gets its own copy. */
export interface SnsTopic {
  readonly name: string;
  readonly source: string;
  readonly fifo: boolean;
}

export interface SnsSubscription {
  readonly topic: string;
  readonly queue: string;
  readonly consumer: string;
  /** On message attributes; null takes everything. */
  readonly filterPolicy: Readonly<Record<string, readonly unknown[]>> | null;
  /** The queue gets the publisher's body and attributes, not an envelope. */
  readonly rawMessageDelivery: true;
  /** Where a message goes that could not be handed over to the queue; nothing that a handler fails on comes here. */
  readonly deadQueue: string;
}

/** What hands messages of a work queue to a function of Lambda, and deletes those that the function does not give back. */
export interface LambdaMapping {
  readonly queue: string;
  readonly consumer: string;
  /** Its name or ARN, as the target has it. */
  readonly functionName: string;
  readonly batchSize: number;
  readonly batchWindowSeconds: number;
  /** Null for Lambda's own limit. */
  readonly maximumConcurrency: number | null;
  /** Without it a function gives back all messages of a batch or none. */
  readonly functionResponseTypes: readonly ["ReportBatchItemFailures"];
}

/** A CloudWatch alarm that goes off above the threshold; missing data is no alarm. */
export interface DepthAlarm {
  readonly name: string;
  readonly queue: string;
  readonly metric: "ApproximateNumberOfMessagesVisible" | "NumberOfMessagesReceived";
  readonly threshold: number;
  readonly periodSeconds: number;
}

/** Everything that has to be in the account and region, in an order in which it can be created. */
export interface SqsTopology {
  readonly broker: "sqs";
  readonly target: string;
  readonly system: string;
  readonly queues: readonly SqsQueue[];
  readonly topics: readonly SnsTopic[];
  readonly subscriptions: readonly SnsSubscription[];
  readonly mappings: readonly LambdaMapping[];
  readonly alarms: readonly DepthAlarm[];
  /** On everything that can have tags, beside those that tell the system, the consumer and the role. */
  readonly tags: Readonly<Record<string, string>>;
}
