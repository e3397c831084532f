/** The answer of a consumer about a message that it holds. */
export type Settlement =
  | { readonly kind: "complete" | "release" }
  | { readonly kind: "abandon" | "defer"; readonly properties: Properties }
  | {
      readonly kind: "dead-letter";
      readonly reason: string | null;
      readonly description: string | null;
      readonly properties: Properties;
    };

type Properties = Readonly<Record<string, unknown>>;

/** An answer that reports a failure, under AMQP's or Service Bus's own name. */
export interface Refusal {
  readonly condition: string;
  readonly description: string;
}

export const lockLost: Refusal = {
  condition: "com.microsoft:message-lock-lost",
  description: "The lock supplied is invalid. Either the lock expired, or the message has already been removed.",
};

export const sessionLockLost: Refusal = {
  condition: "com.microsoft:session-lock-lost",
  description: "The lock of the session has expired, or somebody else holds it.",
};

export function notFound(sequenceNumbers: readonly number[]): Refusal {
  return {
    condition: "com.microsoft:message-not-found",
    description: `There is no such message: ${sequenceNumbers.join(", ")}.`,
  };
}
