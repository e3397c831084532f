import type { BrokerContract, Outcome as BrokerOutcome } from "../contract.ts";

/** What a consumer's code does with Service Bus for one outcome of an attempt. `calls` says what each SDK calls it. */
export type Operation =
  | { readonly operation: "complete" }
  | { readonly operation: "abandon" }
  | ReturnOperation
  | DeadLetterOperation
  | SendOperation;

/**
 * Gives a message back that was not tried.
 *
 * - `release` is AMQP's outcome `released`. By what the maintainers of Service Bus say it counts nothing, and their SDKs rely on it when they close a
 *   receiver; one of them has no method for it. Where a client cannot say it, `abandon` takes its place, and spends a delivery.
 * - `closeSession` gives the session back, with all of its messages that are not settled. It counts nothing. Whoever has more than one message of the
 *   session in hand gives back all of them.
 *
 * Sources: Azure/amqpnetlite issue 342; azure-sdk-for-python pull request 47999; Service Bus documentation, "Message sessions".
 */
interface ReturnOperation {
  readonly operation: "release" | "closeSession";
}

/** Moves the message to the dead-letter queue of its entity, which takes no copy. */
export interface DeadLetterOperation {
  readonly operation: "deadLetter";
  readonly reason: "PERMANENT_FAILURE" | "ATTEMPTS_EXHAUSTED";
  /** What the error says, cut at 4 096 characters: an application property, of which the header of a message has 64 KB in all. */
  readonly description: "error-message";
}

/**
 * Sends a copy of the message, with its body, subject and application properties, and goes on only when Service Bus has answered. The SDKs
 * for JavaScript have no transactions, so this comes first and the message is completed after it: a crash between the two doubles it.
 */
export interface SendOperation {
  readonly operation: "schedule" | "send";
  readonly queue: string;
  /** When the copy is there, from now on: a random time between the two, or what the handler asked for. Only `schedule` has it. */
  readonly delayMs?: { readonly from: number; readonly to: number } | "asked";
  /**
   * The id of the copy: that of the original message and this. The original's alone would be a duplicate, which duplicate detection drops;
   * one that is the same whenever this attempt fails lets it drop the second of two copies. `longestMessageId` says what to do where it
   * would be too long.
   */
  readonly messageIdSuffix: string;
  /** Set on the copy, in the place of those that are there. */
  readonly applicationProperties: {
    readonly "redeliver-attempt": number;
    readonly "redeliver-original-id": "original-id";
  };
  /** Taken off the copy: they tell of an earlier death. */
  readonly removeApplicationProperties: readonly string[];
  /** The copy has none of its own, whatever the message had: it would run again from the beginning while the copy waits. */
  readonly timeToLive: null;
}

export type OperationName = Operation["operation"];

export type Outcome = BrokerOutcome<Operation>;

/** Where publishers send, and what of it arrives here. The routing key is the message's subject. */
export interface ContractSource {
  readonly source: string;
  readonly entity: { readonly kind: "topic" | "queue"; readonly name: string };
  readonly routingKeys: readonly string[] | "all";
  /** Every message needs a session id, which is its key. */
  readonly sessions: boolean;
}

/** Where the handler's code finds which attempt it is running, and the id of the message that was published. */
export type AttemptNumber =
  /**
   * `delivery-count` of the AMQP header, which is 0 in the first delivery, and one more. `deliveryCount` in JavaScript and `getDeliveryCount()`
   * in Java are the header's number; `DeliveryCount` in .NET is one higher.
   */
  | { readonly from: "delivery-count" }
  /**
   * The application property, and 1 where there is none. The original id is another one; where there is none, the message's own id; and where
   * it has none either, `sequence-number:` and its sequence number, so that copies of two such messages are no duplicates.
   */
  | {
      readonly from: "application-property";
      readonly attempt: "redeliver-attempt";
      readonly originalId: "redeliver-original-id";
    };

/** How an operation is called in the SDKs of Microsoft. */
export interface SdkCalls {
  readonly javascript: string;
  readonly dotnet: string;
  readonly java: string;
}

/** What the consumer's code must do for the promises to hold. */
export interface Contract extends BrokerContract<Operation> {
  readonly protocol: "servicebus";
  /** A queue's name, or a subscription's path. */
  readonly workQueue: string;
  readonly deadQueue: string;
  readonly attemptNumber: AttemptNumber;
  /**
   * The most characters that an id may have: Service Bus refuses a message with more. In an id of a copy that would be longer, the SHA-256 of
   * the original id, in hexadecimal digits, stands in its place; in full it is in the application property.
   */
  readonly longestMessageId: number;
  readonly receive: {
    /** Peek-lock. What is received and deleted in one is lost in a crash. */
    readonly mode: "peekLock";
    /** Sessions are accepted one by one, and messages of one come in order. */
    readonly sessions: boolean;
    /**
     * `maxAutoLockRenewalDurationInMs` in JavaScript, `MaxAutoLockRenewalDuration` in .NET, `maxAutoLockRenewDuration` in Java. For a message it
     * covers the handler; for a session it is counted from its acceptance, whatever its messages do, so it is as long as can be.
     */
    readonly lockRenewalMs: number;
    /** What the lock is without renewal: how long a crashed consumer's message is nobody's. */
    readonly lockMs: number;
  };
  readonly calls: Readonly<Record<OperationName, SdkCalls>>;
  readonly sources: readonly ContractSource[];
}

/** The same in every contract: what each operation is called. Source: reference of @azure/service-bus, Azure.Messaging.ServiceBus, azure-messaging-servicebus. */
export const sdkCalls: Contract["calls"] = Object.freeze({
  complete: {
    javascript: "receiver.completeMessage(message)",
    dotnet: "args.CompleteMessageAsync(message)",
    java: "receiver.complete(message)",
  },
  abandon: {
    javascript: "receiver.abandonMessage(message)",
    dotnet: "args.AbandonMessageAsync(message)",
    java: "receiver.abandon(message)",
  },
  release: {
    javascript: "message.delivery.release(), of rhea below the SDK",
    dotnet: "none: args.AbandonMessageAsync(message), which counts a delivery",
    java: "none: receiver.abandon(message), which counts a delivery",
  },
  closeSession: {
    javascript: "receiver.close()",
    dotnet: "args.ReleaseSession()",
    java: "receiver.close()",
  },
  deadLetter: {
    javascript: "receiver.deadLetterMessage(message, { deadLetterReason, deadLetterErrorDescription })",
    dotnet: "args.DeadLetterMessageAsync(message, deadLetterReason, deadLetterErrorDescription)",
    java: "receiver.deadLetter(message, new DeadLetterOptions().setDeadLetterReason(…).setDeadLetterErrorDescription(…))",
  },
  schedule: {
    javascript: "sender.scheduleMessages(copy, scheduledEnqueueTimeUtc)",
    dotnet: "sender.ScheduleMessageAsync(copy, scheduledEnqueueTime)",
    java: "sender.scheduleMessage(copy, scheduledEnqueueTime)",
  },
  send: {
    javascript: "sender.sendMessages(copy)",
    dotnet: "sender.SendMessageAsync(copy)",
    java: "sender.sendMessage(copy)",
  },
});
