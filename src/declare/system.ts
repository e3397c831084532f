import type { Backoff } from "./backoff.ts";
import type { Duration } from "./duration.ts";
import type { QueueArgumentsInput, QueueSettings } from "./queue-arguments.ts";

/** An entity that producers publish to. */
export interface SourceInput {
  /**
   * `topic` matches patterns, `direct` whole routing keys; `fanout` sends everything. `headers` matches headers of the
   * message, on SQS its attributes, and not on Service Bus. `opaque` is an exchange of a plugin of RabbitMQ, with
   * `owner: other`. On SQS it is a topic with filters in SNS's own words. Any message may come.
   */
  readonly kind: "topic" | "direct" | "fanout" | "headers" | "opaque";
  /**
   * Its name on the broker. On AWS another owner's topic, rule or bucket has its ARN here. The default is the system's
   * name, a dot and the source's key, on SQS with a hyphen.
   */
  readonly name?: string | undefined;
  /**
   * The type of an `opaque` exchange, as its plugin names it. Its keys in `from` are those of the bindings, such as the
   * weight in a consistent hash. Only that kind has it, and needs it.
   */
  readonly exchangeType?: string | undefined;
  /**
   * The arguments that another owner's exchange must have, by the broker's own names. `consume` and the deployment
   * refuse other values, and `diff` reports them. Arguments that are not named do not count. The default is none.
   * RabbitMQ and `owner: other` only.
   */
  readonly arguments?: Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * With `other`, somebody else made it under the given `name`, and `kind` is an assumption. Redeliver never creates,
   * changes or deletes it. `consume` refuses to start if it is missing, or on RabbitMQ has another kind; on SQS it cannot
   * see the topic. The default is `system`.
   */
  readonly owner?: "system" | "other" | undefined;
}

/** Templates for names on the broker. */
export interface NamesInput {
  /**
   * The template for work queues, with the placeholders `{system}` and `{consumer}`. The default is
   * `{system}.{consumer}`.
   */
  readonly queue?: string | undefined;
  /**
   * The template for dead queues, with the placeholders `{system}`, `{consumer}` and `{queue}`. The default is
   * `{queue}.dead`.
   */
  readonly dead?: string | undefined;
  /**
   * The template for the exchanges or topics of sources, with the placeholders `{system}` and `{source}`. The default is
   * `{system}.{source}`.
   */
  readonly source?: string | undefined;
  /**
   * The template for the beginning of the names of exchanges and queues that consumers share, such as tiers, with the
   * placeholder `{system}`. The default is `{system}`. RabbitMQ only.
   */
  readonly shared?: string | undefined;
}

/** The budget of a system on its broker. */
export interface LimitsInput {
  /**
   * The most queues that Redeliver may make for the system. Queues of single instances do not count. The default is no
   * limit.
   */
  readonly queues?: number | undefined;
  /**
   * The most resources of all kinds that Redeliver may make for the system. Those of others do not count. The default
   * is no limit.
   */
  readonly resources?: number | undefined;
}

export interface RetryInput {
  /** The most handler runs on one message, including the first. From 1, which means no retry, to 1,000. */
  readonly attempts: number;
  /** The delay of a failed message before its next attempt. */
  readonly backoff: Backoff;
  /**
   * The latest start of an attempt, counted from the first one. Later attempts are left out. The default is no limit.
   */
  readonly giveUpAfter?: Duration | undefined;
  /** Lets the handler ask for a delay of its own, up to `max`, like a Retry-After header. The default is not to. */
  readonly retryAfter?: RetryAfterInput | undefined;
}

interface RetryAfterInput {
  /** The longest delay that a handler may ask for, at least 1s. */
  readonly max: Duration;
}

export interface CrashInput {
  /** The number of deliveries that may end in a crash before the message is dead. From 1 to 1,000. */
  readonly deliveries: number;
}

interface ErrorsInput {
  /** The names of errors that no retry can cure. The first of them ends the message in the dead queue. */
  readonly permanent: readonly string[];
}

export interface DeadLetterInput {
  /** The shortest time to keep dead letters. The default is as long as the broker keeps them. */
  readonly retain?: Duration | undefined;
  /** Raises an alarm when more dead letters than this wait. The default is no alarm. */
  readonly alarmAbove?: number | undefined;
  /**
   * The most times that one dead letter is sent again. Then it is parked, or stays if there is no parked queue. The
   * default is 3.
   */
  readonly generations?: number | undefined;
  /**
   * Makes a queue for letters that nobody should send again by mistake. Its name is that of the work queue and
   * `parked`. The default is not to.
   */
  readonly park?: boolean | undefined;
  /** The name of the dead queue on the broker. The default is that of the template. RabbitMQ and SQS only. */
  readonly queue?: string | undefined;
  /**
   * The place of the dead queue's settings, like `queueSettings` of the consumer. The default is `arguments`. Consumers
   * that share a dead queue say the same. RabbitMQ only.
   */
  readonly queueSettings?: QueueSettings | undefined;
}

/** The headers that a message from a headers source must have: all of them, or any one. */
export interface HeadersMatch {
  /** The forms with `-with-x` also compare headers whose names begin with `x-`. */
  readonly match: "all" | "any" | "all-with-x" | "any-with-x";
  /** The headers to compare, with the text, number or boolean that each must have. `1` is not `"1"`. */
  readonly headers: Readonly<Record<string, string | number | boolean>>;
}

/** A filter that SNS evaluates, and Redeliver does not. */
export interface StatedFilter {
  /** The filter policy of the subscription, in the words of SNS. Redeliver passes it on as it is. */
  readonly filterPolicy: Readonly<Record<string, unknown>>;
  /** The part of a message that the policy looks at. The default is its attributes. */
  readonly filterPolicyScope?: "MessageAttributes" | "MessageBody" | undefined;
}

/**
 * The messages that a consumer takes from one source: by their keys, all of them, by one of several matches, or by a
 * filter of SNS.
 */
export type Taken = readonly string[] | "all" | HeadersMatch | readonly HeadersMatch[] | StatedFilter;

type FromInput<Source extends string> = { readonly [Name in Source]?: Taken };

interface CommonConsumerInput {
  /**
   * The longest time of one handler run. A longer one counts as a transient failure. The default is no limit, but the
   * broker may have one.
   */
  readonly handlerTimeout?: Duration | undefined;
  /** `per-key`: a message waits for the earlier ones with the same key, also while they are retried. */
  readonly order?: "none" | "per-key" | undefined;
  /** The protocol between the consumer's code and a RabbitMQ broker. Other brokers ignore it. */
  readonly protocol?: "amqp-0-9-1" | "amqp-1.0" | undefined;
}

/** One queue for the consumer; its instances compete for the messages. */
export interface WorkQueueConsumerInput<Source extends string = string> extends CommonConsumerInput {
  /**
   * The routing keys taken from each source: a list, or `"all"`. In the list for a topic, `*` stands for one word and
   * `#` for any number of words. Of a headers source it is `"all"`, or the headers to match, such as
   * `{ match: "all", headers: { type: "invoice", version: 2 } }`. A list has several such matches. Of an opaque source
   * on SQS it is `"all"`, or a `filterPolicy` of SNS. Left out, producers send straight to the work queue.
   */
  readonly from?: FromInput<Source> | undefined;
  /** The name of the work queue on the broker. The default is that of the template. */
  readonly queue?: string | undefined;
  /**
   * The name that the consumer had when it was first deployed. Everything of it on the broker keeps that name, so no
   * message is left behind when you rename it here. The default is the present name.
   */
  readonly formerly?: string | undefined;
  /**
   * More arguments of the work queue, by the broker's names in camel case. Nobody can change them once the queue exists.
   * The default is none. RabbitMQ only.
   */
  readonly queueArguments?: QueueArgumentsInput | undefined;
  /**
   * The place of the settings that Redeliver gives the work queue, such as its dead-letter exchange. `arguments` never
   * change, so no policy takes them away. `policy` lets a queue stay that exists without them, but a policy with a
   * priority above 1000 takes them away. The default is `arguments`. RabbitMQ only.
   */
  readonly queueSettings?: QueueSettings | undefined;
  /**
   * `work-queue`: one queue for the consumer, and its instances compete for the messages. `every-instance`: a queue for
   * each instance. Every instance gets every message, and there are no retries.
   */
  readonly delivery?: "work-queue" | undefined;
  /** The attempts on a message, and the delays between them. A work queue needs it. */
  readonly retry: RetryInput;
  /** The limit on crashes: deliveries that end without a result. The default is the number of attempts. */
  readonly crash?: CrashInput | undefined;
  /** The kinds of errors. By default every error is transient. */
  readonly errors?: ErrorsInput | undefined;
  /** The dead queue: the end of messages that no attempt could handle. Left out, its parts have their defaults. */
  readonly deadLetter?: DeadLetterInput | undefined;
}

/** A queue for each instance of the consumer. Every instance gets every message, and there are no retries. */
export interface EveryInstanceConsumerInput<Source extends string = string> extends CommonConsumerInput {
  /**
   * The routing keys taken from each source: a list, or `"all"`. In the list for a topic, `*` stands for one word and
   * `#` for any number of words. Of a headers source it is `"all"`, or the headers to match, such as
   * `{ match: "all", headers: { type: "invoice", version: 2 } }`. A list has several such matches. Of an opaque source
   * on SQS it is `"all"`, or a `filterPolicy` of SNS. Left out, producers send straight to the work queue.
   */
  readonly from: FromInput<Source>;
  readonly queue?: undefined;
  readonly formerly?: undefined;
  readonly queueArguments?: undefined;
  /** Nothing is kept for an instance. */
  readonly queueSettings?: undefined;
  /**
   * `work-queue`: one queue for the consumer, and its instances compete for the messages. `every-instance`: a queue for
   * each instance. Every instance gets every message, and there are no retries.
   */
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
export interface SystemInput<Source extends string = string, Consumer extends string = string> {
  /** The system's name. It begins every resource's name that the declaration does not give itself, unless `formerly` does. */
  readonly name: string;
  /**
   * The name that the system had when it was first deployed. Everything on the broker keeps the names that come from it,
   * so no message is left behind when you rename the system here. The default is the present name.
   */
  readonly formerly?: string | undefined;
  /** Templates for names on the broker. The defaults begin with the system's name. */
  readonly names?: NamesInput | undefined;
  /**
   * The entities that producers publish to, by their names in this declaration. Each consumer of a source gets its own
   * copy of every message that it asks for. Without them producers send straight to the work queues.
   */
  readonly sources?: { readonly [Name in Source]: SourceInput } | undefined;
  /** The consumers by their names. */
  readonly consumers: { readonly [Name in Consumer]: ConsumerInput<NoInfer<Source>> };
  /**
   * The budget of the system on its broker. Redeliver refuses to compile a system that exceeds it. The default is no
   * budget.
   */
  readonly limits?: LimitsInput | undefined;
}

/** A checked consumer, with defaults filled in. */
export interface Consumer extends Partial<Omit<WorkQueueConsumerInput, "from" | "delivery">> {
  readonly from?: { readonly [source: string]: Taken } | undefined;
  readonly delivery: "work-queue" | "every-instance";
  readonly order: "none" | "per-key";
  readonly protocol: "amqp-0-9-1" | "amqp-1.0";
}

/** A checked declaration: frozen, plain data, with defaults filled in. `Name` are the names of its consumers. */
export interface System<Name extends string = string> {
  /** It begins every resource's name that the declaration does not give itself. */
  readonly name: string;
  /** Its first name, if it has been renamed. Names on the broker come from that one. */
  readonly formerly?: string | undefined;
  /** The templates for names on the broker, if the declaration has any. */
  readonly names?: NamesInput | undefined;
  /** The entities that producers publish to, by their names in the declaration. */
  readonly sources: { readonly [name: string]: SourceInput };
  /** By their names in the declaration. */
  readonly consumers: { readonly [Each in Name]: Consumer };
  /** The budget, if the declaration has one. */
  readonly limits?: LimitsInput | undefined;
}
