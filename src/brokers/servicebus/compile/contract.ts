import type { BrokerContract, Outcome as BrokerOutcome } from "../../../contract/contract.ts";

/**
 * One operation of a consumer's code on Service Bus, for one outcome of an attempt. `calls` has its name in each SDK.
 */
export type Operation =
  | { readonly operation: "complete" }
  | { readonly operation: "abandon" }
  | ReturnOperation
  | DeadLetterOperation
  | SendOperation;

/**
 * Gives a message back without trying it.
 *
 * - `release` is AMQP's outcome `released`. According to the maintainers of Service Bus it counts nothing. Their SDKs
 *   rely on it when they close a receiver, but one of them has no method for it. A client without it uses `abandon`,
 *   which spends a delivery.
 * - `closeSession` gives the session back, with all of its unsettled messages. It counts nothing. A consumer that holds
 *   several messages of the session gives all of them back.
 *
 * Sources: Azure/amqpnetlite issue 342; azure-sdk-for-python pull request 47999; Service Bus documentation, "Message
 * sessions".
 */
interface ReturnOperation {
  readonly operation: "release" | "closeSession";
}

/** Moves the message to the dead-letter queue of its entity, without a copy. */
export interface DeadLetterOperation {
  readonly operation: "deadLetter";
  readonly reason: "PERMANENT_FAILURE" | "ATTEMPTS_EXHAUSTED" | "MESSAGE_TOO_LARGE";
  /**
   * The text of the error, cut at 4 096 characters. It is an application property, and a message has only 64 KB for all
   * of them.
   */
  readonly description: "error-message";
}

/**
 * Sends a copy of the message, with its body, subject and application properties. It goes on only when Service Bus has
 * answered. The SDKs for JavaScript have no transactions, so the consumer sends first and completes the message
 * afterwards. A crash between the two doubles the message.
 *
 * `schedule` is an ordinary send of a message that names its time. The SDKs also have a method that schedules, which is
 * a request to the management link. That link gives no answer at all to a message that is too large; in the premium
 * tier, to one of more than about 1 MB. Sources: "Message sequencing and timestamps"; azure-service-bus issues 697 and
 * 740, azure-sdk-for-js issue 23623, azure-sdk-for-python issue 38189.
 */
export interface SendOperation {
  readonly operation: "schedule" | "send";
  readonly queue: string;
  /**
   * The time from now until the copy becomes active: a random time between the two, or the delay that the handler asked
   * for. Only `schedule` has it.
   */
  readonly delayMs?: { readonly from: number; readonly to: number } | "asked";
  /**
   * The copy's id is the original message's id and this suffix. Duplicate detection would drop a copy with the original
   * id alone. The suffix is the same whenever this attempt fails, so that duplicate detection drops the second of two
   * copies. `longestMessageId` says how to shorten an id that would be too long.
   */
  readonly messageIdSuffix: string;
  /** Set on the copy, replacing existing values. */
  readonly applicationProperties: {
    readonly "redeliver-attempt": number;
    readonly "redeliver-original-id": "original-id";
  };
  /** Removed from the copy, because they describe an earlier death. */
  readonly removeApplicationProperties: readonly string[];
  /**
   * If Service Bus refuses the copy as too large (`MessageSizeExceeded`), the consumer does this instead of this
   * operation and all later ones. A copy is a little larger than its message. A second try would fail in the same way.
   */
  readonly ifTooLarge: DeadLetterOperation;
  /**
   * The copy has none of its own, even if the message had one. It would start again from the beginning while the copy
   * waits.
   */
  readonly timeToLive: null;
}

export type OperationName = Operation["operation"];

export type Outcome = BrokerOutcome<Operation>;

/** An entity that publishers send to, and the messages that arrive here. The routing key is the message's subject. */
export interface ContractSource {
  /** Its name in the declaration. Null if publishers send straight to the work queue without a source. */
  readonly source: string | null;
  readonly entity: { readonly kind: "topic" | "queue"; readonly name: string };
  readonly routingKeys: readonly string[] | "all";
  /** Every message needs a session id, which is its key. */
  readonly sessions: boolean;
}

/** The place where the handler's code finds the number of its attempt and the id of the published message. */
export type AttemptNumber =
  /**
   * One more than `delivery-count` of the AMQP header, which is 0 in the first delivery. `deliveryCount` in JavaScript
   * and `getDeliveryCount()` in Java are the header's number; `DeliveryCount` in .NET is one higher.
   */
  | { readonly from: "delivery-count" }
  /**
   * The application property, or 1 without it. Another property has the original id. Without that property, the
   * original id is the message's own id. If the message has no id, it is `sequence-number:` and its sequence number, so
   * that copies of two such messages are no duplicates.
   */
  | {
      readonly from: "application-property";
      readonly attempt: "redeliver-attempt";
      readonly originalId: "redeliver-original-id";
    };

/** The names of an operation in the SDKs of Microsoft. */
export interface SdkCalls {
  readonly javascript: string;
  readonly dotnet: string;
  readonly java: string;
}

/** The duties of the consumer's code that make the promises hold. */
export interface Contract extends BrokerContract<Operation> {
  readonly protocol: "servicebus";
  /** The name of a queue, or the path of a subscription. */
  readonly workQueue: string;
  readonly deadQueue: string;
  readonly attemptNumber: AttemptNumber;
  /**
   * The most characters of an id; Service Bus refuses a message with more. If an id of a copy would be longer, it has
   * the SHA-256 of the original id in hexadecimal digits instead. The application property has the full original id.
   */
  readonly longestMessageId: number;
  /** The most bytes that all properties of a message may have together. */
  readonly mostPropertiesBytes: number;
  readonly receive: {
    /** Peek-lock. A crash would lose a message received with receive-and-delete. */
    readonly mode: "peekLock";
    /** A receiver accepts sessions one by one, and the messages of one come in order. */
    readonly sessions: boolean;
    /**
     * `maxAutoLockRenewalDurationInMs` in JavaScript, `MaxAutoLockRenewalDuration` in .NET, `maxAutoLockRenewDuration`
     * in Java. For a message it covers the handler. For a session it counts from the acceptance, for all its messages
     * together, so it is as long as possible.
     */
    readonly lockRenewalMs: number;
    /** The lock duration without renewal. A crashed consumer's message stays locked for this long. */
    readonly lockMs: number;
  };
  readonly calls: Readonly<Record<OperationName, SdkCalls>>;
  readonly sources: readonly ContractSource[];
}

const calls = (javascript: string, dotnet: string, java: string): SdkCalls => ({ javascript, dotnet, java });

/**
 * The names of each operation, the same in every contract. Source: reference of @azure/service-bus,
 * Azure.Messaging.ServiceBus, azure-messaging-servicebus.
 */
export const sdkCalls: Contract["calls"] = Object.freeze({
  complete: calls(
    "receiver.completeMessage(message)",
    "args.CompleteMessageAsync(message)",
    "receiver.complete(message)",
  ),
  abandon: calls("receiver.abandonMessage(message)", "args.AbandonMessageAsync(message)", "receiver.abandon(message)"),
  release: calls(
    "message.delivery.release(), of rhea below the SDK",
    "none: args.AbandonMessageAsync(message), which counts a delivery",
    "none: receiver.abandon(message), which counts a delivery",
  ),
  closeSession: calls("receiver.close()", "args.ReleaseSession()", "receiver.close()"),
  deadLetter: calls(
    "receiver.deadLetterMessage(message, { deadLetterReason, deadLetterErrorDescription })",
    "args.DeadLetterMessageAsync(message, deadLetterReason, deadLetterErrorDescription)",
    "receiver.deadLetter(message, new DeadLetterOptions().setDeadLetterReason(…).setDeadLetterErrorDescription(…))",
  ),
  schedule: calls(
    "sender.sendMessages({ ...copy, scheduledEnqueueTimeUtc })",
    "copy.ScheduledEnqueueTime = …; sender.SendMessageAsync(copy)",
    "sender.sendMessage(copy.setScheduledEnqueueTime(…))",
  ),
  send: calls("sender.sendMessages(copy)", "sender.SendMessageAsync(copy)", "sender.sendMessage(copy)"),
});
