/** What a handler gets. */
export interface Message<Body = unknown> {
  /** The producer's own id of it, or the broker's; null where there is none. */
  readonly id: string | null;
  readonly body: Body;
  /** As the producer gave it, whatever the retries made of it; null where the broker has none. */
  readonly routingKey: string | null;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The client library's own message. Whoever settles it there breaks the contract. */
  readonly raw: unknown;
}

/** Which run of the handler this is. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  /** How many there are. */
  readonly of: number;
  /** Given when the handler's time is over, or when the consumer has to stop: the message is then settled without the handler. */
  readonly signal: AbortSignal;
}

/**
 * Handles one message. To return is success; to throw is a transient failure, unless the error is one of those that are declared as permanent,
 * or made by `permanent` or `retryAfter`. It may run more than once on a message: whatever it does has to bear repeating.
 */
export type Handler<Body = unknown> = (message: Message<Body>, attempt: Attempt) => Promise<void> | void;

/**
 * Whatever validates a value: a schema of zod, Valibot, ArkType, or any other library that keeps to Standard Schema.
 * Source: https://standardschema.dev
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
