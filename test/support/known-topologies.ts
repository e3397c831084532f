// Definitions files of topologies that people run, as their tools declare them and the broker exports them.

export type Arguments = Readonly<Record<string, unknown>>;

export const queue = (name: string, given: Arguments = {}): object => ({
  name,
  vhost: "/",
  durable: true,
  auto_delete: false,
  arguments: given,
});

export const exchange = (name: string, type: string): object => ({
  name,
  vhost: "/",
  type,
  durable: true,
  auto_delete: false,
  internal: false,
  arguments: {},
});

export const binding = (source: string, destination: string, key = "", kind = "queue"): object => ({
  source,
  vhost: "/",
  destination,
  destination_type: kind,
  routing_key: key,
  arguments: {},
});

/** @param ways such as `events > orders: order.*`, or `events >> others` into an exchange */
export const bound = (...ways: readonly string[]): readonly object[] =>
  ways.map((way) => {
    const [source = "", destination = "", key = ""] = way.split(/ >>? |: /);
    return binding(source, destination, key, way.includes(" >> ") ? "exchange" : "queue");
  });

export const vhosts = [{ name: "/" }];

/** The arguments of a queue whose dead letters go to an exchange. */
export function deadThrough(exchange: string, key?: string): Arguments {
  return { "x-dead-letter-exchange": exchange, ...(key === undefined ? {} : { "x-dead-letter-routing-key": key }) };
}

/** Dead letters go to a queue, by the default exchange. */
export const deadTo = (name: string): Arguments => deadThrough("", name);

/** The same, after a time in the queue. */
export const waiting = (ttlMs: number, exchange: string, key?: string): Arguments => ({
  "x-message-ttl": ttlMs,
  ...deadThrough(exchange, key),
});

/** A work queue and one wait queue, which dead-letter to each other through exchanges. */
export function singleWaitQueue(
  options: {
    readonly type?: "classic" | "quorum";
    readonly deliveryLimit?: number;
    readonly atLeastOnce?: boolean;
  } = {},
): object {
  const { type = "quorum", deliveryLimit, atLeastOnce } = options;
  const common: Arguments = {
    "x-queue-type": type,
    ...(atLeastOnce === true ? { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" } : {}),
  };
  return {
    vhosts,
    exchanges: [exchange("orders", "topic"), exchange("billing.retry", "fanout"), exchange("billing.again", "fanout")],
    queues: [
      queue("billing", {
        ...common,
        ...(deliveryLimit === undefined ? {} : { "x-delivery-limit": deliveryLimit }),
        ...deadThrough("billing.retry"),
      }),
      queue("billing.wait", { ...common, ...waiting(5_000, "billing.again") }),
    ],
    bindings: bound("orders > billing: order.placed", "billing.retry > billing.wait", "billing.again > billing"),
  };
}

const level = (number: number): string => `nsb.v2.delay-level-${String(number).padStart(2, "0")}`;

/** Delays of any number of seconds through 28 queues, one for each bit, as NServiceBus and Celery build them. */
export function delayInfrastructure({
  endpoints = ["Sales", "Billing"],
}: { readonly endpoints?: readonly string[] } = {}): object {
  const levels = Array.from({ length: 28 }, (_, index) => 27 - index);
  const next = (number: number): string => (number === 0 ? "nsb.v2.delay-delivery" : level(number - 1));
  const bit = (number: number, value: 0 | 1): string => `${"*.".repeat(27 - number)}${value}.#`;
  return {
    vhosts,
    exchanges: [
      ...levels.map((number) => exchange(level(number), "topic")),
      exchange("nsb.v2.delay-delivery", "topic"),
      ...endpoints.map((name) => exchange(name, "fanout")),
    ],
    queues: [
      ...levels.map((number) =>
        queue(level(number), {
          "x-queue-type": "quorum",
          "x-dead-letter-strategy": "at-least-once",
          "x-overflow": "reject-publish",
          ...waiting(2 ** number * 1_000, next(number)),
        }),
      ),
      ...endpoints.map((name) => queue(name, { "x-queue-type": "quorum" })),
    ],
    bindings: [
      ...levels.flatMap((number) => [
        binding(level(number), level(number), bit(number, 1)),
        binding(level(number), next(number), bit(number, 0), "exchange"),
      ]),
      ...endpoints.flatMap((name) => [
        binding("nsb.v2.delay-delivery", name, `#.${name}`, "exchange"),
        binding(name, name),
      ]),
    ],
  };
}

/** The topology of Spring Cloud Stream with `autoBindDlq`, and with `dlqTtl` and an empty `dlqDeadLetterExchange`. */
export function springDeadLetterQueue(options: { readonly type: "classic" | "quorum"; readonly dlqTtlMs?: number }) {
  const type: Arguments = options.type === "quorum" ? { "x-queue-type": "quorum" } : {};
  const back: Arguments = options.dlqTtlMs === undefined ? {} : waiting(options.dlqTtlMs, "", "orders.billing");
  return {
    vhosts,
    exchanges: [exchange("orders", "topic"), exchange("DLX", "direct")],
    queues: [
      queue("orders.billing", { ...type, ...deadThrough("DLX", "orders.billing") }),
      queue("orders.billing.dlq", { ...type, ...back }),
    ],
    bindings: [binding("orders", "orders.billing", "#"), binding("DLX", "orders.billing.dlq", "orders.billing")],
  };
}

/** The parts of an export of one virtual host. */
export interface Parts {
  readonly queues: readonly object[];
  readonly exchanges?: readonly object[];
  readonly bindings?: readonly object[];
  readonly policies?: readonly object[];
  readonly parameters?: readonly object[];
}

/** An export of RabbitMQ 4.3 with one virtual host. */
export function exported({ queues, exchanges = [], bindings = [], policies = [], parameters = [] }: Parts): string {
  return JSON.stringify({ rabbitmq_version: "4.3.6", vhosts, exchanges, queues, bindings, policies, parameters });
}
