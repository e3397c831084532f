import type { Backoff } from "./backoff.ts";
import type { Duration } from "./duration.ts";

/**
 * Where producers publish. Each consumer gets its own copy of what it asks for:
 * `topic` matches patterns, `direct` whole routing keys, `fanout` takes everything.
 */
export interface SourceInput {
  readonly kind: "topic" | "direct" | "fanout";
}

export interface RetryInput {
  /** How often the handler may run on one message. The first time counts. 1 to 1 000. */
  readonly attempts: number;
  readonly backoff: Backoff;
  /** No attempt is scheduled later than this after the first one; the attempts beyond it are left out. */
  readonly giveUpAfter?: Duration | undefined;
  /** Lets the handler ask for a delay of its own, up to `max`, as a Retry-After header would. */
  readonly retryAfter?: { readonly max: Duration } | undefined;
}

export interface CrashInput {
  /** How many deliveries may end in a crash before the message is dead. As many as attempts where it is left out. */
  readonly deliveries: number;
}

export interface DeadLetterInput {
  /** How long dead letters must be kept at least. */
  readonly retain?: Duration | undefined;
  /** Raise an alarm when more dead letters than this wait. */
  readonly alarmAbove?: number | undefined;
}

interface CommonConsumerInput<Source extends string> {
  /** The routing keys taken from each source: a list, or `"all"`. */
  readonly from: { readonly [Name in Source]?: readonly string[] | "all" };
  /** The longest that one run of the handler may take. */
  readonly handlerTimeout?: Duration | undefined;
  readonly order?: "none" | "per-key" | undefined;
  /** How the consumer's code talks to a RabbitMQ broker. */
  readonly protocol?: "amqp-0-9-1" | "amqp-1.0" | undefined;
}

/** One queue for the consumer; its instances compete for the messages. */
export interface WorkQueueConsumerInput<Source extends string = string> extends CommonConsumerInput<Source> {
  readonly delivery?: "work-queue" | undefined;
  readonly retry: RetryInput;
  readonly crash?: CrashInput | undefined;
  /** The names of the errors that no retry can help. Every other error is transient. */
  readonly errors?: { readonly permanent: readonly string[] } | undefined;
  readonly deadLetter?: DeadLetterInput | undefined;
}

/** A queue for each instance of the consumer: every instance gets every message, and nothing is retried. */
export interface EveryInstanceConsumerInput<Source extends string = string> extends CommonConsumerInput<Source> {
  readonly delivery: "every-instance";
  readonly retry?: undefined;
  readonly crash?: undefined;
  readonly errors?: undefined;
  readonly deadLetter?: undefined;
}

export type ConsumerInput<Source extends string = string> =
  | WorkQueueConsumerInput<Source>
  | EveryInstanceConsumerInput<Source>;

/** A whole declaration, as a person writes it. */
export interface SystemInput<Source extends string = string> {
  /** The prefix of every resource's name. */
  readonly name: string;
  readonly sources: { readonly [Name in Source]: SourceInput };
  readonly consumers: { readonly [name: string]: ConsumerInput<NoInfer<Source>> };
}

/** A consumer that has been checked, defaults filled in. */
export interface Consumer {
  readonly from: { readonly [source: string]: readonly string[] | "all" };
  readonly retry?: RetryInput | undefined;
  readonly crash?: CrashInput | undefined;
  readonly handlerTimeout?: Duration | undefined;
  readonly errors?: { readonly permanent: readonly string[] } | undefined;
  readonly deadLetter?: DeadLetterInput | undefined;
  readonly delivery: "work-queue" | "every-instance";
  readonly order: "none" | "per-key";
  readonly protocol: "amqp-0-9-1" | "amqp-1.0";
}

/** A declaration that has been checked: frozen, plain data, defaults filled in. */
export interface System {
  readonly name: string;
  readonly sources: { readonly [name: string]: SourceInput };
  readonly consumers: { readonly [name: string]: Consumer };
}
