/** What a consumer's code does with Service Bus for one outcome of an attempt. `calls` says what each SDK calls it. */
export type Operation =
  | { readonly operation: "complete" }
  | { readonly operation: "abandon" }
  | DeadLetterOperation
  | SendOperation;

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
   * one that is the same whenever this attempt fails lets it drop the second of two copies.
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

/** Operations in order: the next one only when the one before has succeeded. */
export type Outcome = readonly Operation[] | { readonly byAttempt: readonly (readonly Operation[])[] };

export type OutcomeName = "success" | "transient" | "permanent" | "return";

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
  /** The application property, and 1 where there is none; the original id is another one, or the message's own where there is none. */
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

/** What the consumer's code must do for the promises to hold. Other programs drive consumers by it. */
export interface Contract {
  readonly consumer: string;
  readonly target: string;
  readonly strategy: string;
  readonly protocol: "servicebus";
  /** A queue's name, or a subscription's path. */
  readonly workQueue: string;
  readonly deadQueue: string;
  /** `delayMs` is counted from the failure of the attempt before, `delayLatestMs` is the same with all jitter. */
  readonly attempts: readonly { readonly attempt: number; readonly delayMs: number; readonly delayLatestMs?: number }[];
  /** On one attempt; null where crashes count towards the attempts. */
  readonly crashDeliveries: number | null;
  /** The most deliveries that one message can cause with this strategy on this target. */
  readonly maxDeliveries: number;
  readonly outcomes: Readonly<Record<OutcomeName, Outcome>>;
  /** Why each outcome is what it is. */
  readonly why: Readonly<Record<OutcomeName, string>>;
  /** What to do when a handler asks for a delay of its own: the first entry whose `upToMs` is not below it. */
  readonly retryAfter?: readonly RetryAfterStep[];
  readonly attemptNumber: AttemptNumber;
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
  /** Counted from the receive. */
  readonly handlerTimeoutMs: number | null;
  /** Names of errors that are permanent; every other one is transient. */
  readonly permanentErrors: readonly string[];
}

/** A delay that a handler may ask for, and what to do for it. */
export interface RetryAfterStep {
  readonly upToMs: number;
  readonly byAttempt: readonly (readonly Operation[])[];
}

/** The same in every contract: what each operation is called. Source: reference of @azure/service-bus, Azure.Messaging.ServiceBus, azure-messaging-servicebus. */
export const sdkCalls: Contract["calls"] = Object.freeze({
  complete: {
    javascript: "receiver.completeMessage(message)",
    dotnet: "args.CompleteMessageAsync(message)",
    java: "context.complete()",
  },
  abandon: {
    javascript: "receiver.abandonMessage(message)",
    dotnet: "args.AbandonMessageAsync(message)",
    java: "context.abandon()",
  },
  deadLetter: {
    javascript: "receiver.deadLetterMessage(message, { deadLetterReason, deadLetterErrorDescription })",
    dotnet: "args.DeadLetterMessageAsync(message, deadLetterReason, deadLetterErrorDescription)",
    java: "context.deadLetter(new DeadLetterOptions().setDeadLetterReason(…).setDeadLetterErrorDescription(…))",
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

/** The operations of an outcome after a given attempt; none where the contract has nothing for it. */
export function operationsAfter(outcome: Outcome, attempt: number): readonly Operation[] {
  return "byAttempt" in outcome ? (outcome.byAttempt[attempt - 1] ?? []) : outcome;
}
