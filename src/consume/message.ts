/** The input to a handler. */
export interface Message<Body = unknown> {
  /** The producer's own id, or else the broker's. Null if there is none. */
  readonly id: string | null;
  /** The body, read in the option's format, and of the schema's type. */
  readonly body: Body;
  /** The producer's key, even if retries have replaced it. Null if the broker has none. */
  readonly routingKey: string | null;
  /** The message's headers: on SQS its attributes, on Service Bus its application properties. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The client library's own message. Settling it there breaks the contract. */
  readonly raw: unknown;
}

/** The current run of the handler. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  /** The number of attempts in all. */
  readonly of: number;
  /**
   * Aborted when the handler's time is over or the consumer must stop. The message is then settled without the handler.
   */
  readonly signal: AbortSignal;
}

/**
 * Handles one message. A return is a success. A thrown error is a transient failure, unless it is declared as permanent
 * or made by `permanent` or `retryAfter`. The handler may run more than once for a message, so its effects must bear
 * repeating.
 */
export type Handler<Body = unknown> = (message: Message<Body>, attempt: Attempt) => Promise<void> | void;

/**
 * A validator: a schema of zod, Valibot, ArkType, or any other library with Standard Schema. Source:
 * https://standardschema.dev
 */
export interface BodySchema<Body = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Body> | Promise<SchemaResult<Body>>;
    readonly types?: { readonly input: unknown; readonly output: Body } | undefined;
  };
}

export type SchemaResult<Body> =
  | { readonly value: Body; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };
