// Topologies as frameworks and people declare them, for `redeliver adopt`. Each names the origin of its shape.

import {
  binding,
  bound,
  deadThrough,
  deadTo,
  delayInfrastructure,
  exchange,
  queue,
  singleWaitQueue,
  springDeadLetterQueue,
  vhosts,
  waiting,
} from "./known-topologies.ts";

interface Definitions {
  readonly exchanges: readonly object[];
  readonly queues: readonly object[];
  readonly bindings: readonly object[];
  readonly policies?: readonly object[];
}

/** A topology, and the facts that an expert would read from it. */
export interface AdoptedTopology {
  readonly definitions: Definitions;
  /** By work queue: the number of attempts, the backoff, and the dead queue of the declaration. */
  readonly consumers: Readonly<Record<string, readonly [attempts: number, backoff: object, dead: string]>>;
  /** The exchanges that are sources. */
  readonly sources: readonly string[];
  /** The settings of the target that a declaration cannot say. */
  readonly options?: { readonly deadQueue: "shared" };
  /** The fate of a message that a consumer rejects: today, and after a deployment over the topology. */
  readonly rejected: "kept" | "lost today" | "lost after";
  /** A part of a fact that the declaration cannot say. */
  readonly unsaid: RegExp;
}

const quorum = { "x-queue-type": "quorum" } as const;
const immediate = { kind: "immediate" };

const levels = delayInfrastructure() as Definitions;
const renamed = JSON.parse(
  JSON.stringify(delayInfrastructure({ endpoints: [] }))
    .replaceAll(/nsb\.v2\.delay-level-0?(\d+)/g, "celery_delayed_$1")
    .replaceAll("nsb.v2.delay-delivery", "celery_delayed_delivery"),
) as Definitions;

const tier = (delayMs: number): object =>
  queue(`billing.retry.${delayMs}`, { ...quorum, ...waiting(delayMs, "", "billing") });
const symfonyDelay = (delayMs: number): object =>
  queue(`delay_messages__${delayMs}_retry`, {
    "x-message-ttl": delayMs,
    "x-expires": delayMs + 10_000,
    ...deadThrough("messages", ""),
  });

function delayedByPolicy(given: object = {}): Omit<AdoptedTopology, "rejected" | "unsaid"> {
  const shipping = {
    name: "shipping",
    vhost: "/",
    pattern: "^shipping$",
    "apply-to": "quorum_queues",
    priority: 1,
    definition: {
      "delayed-retry-type": "failed",
      "delayed-retry-min": 1_000,
      "delayed-retry-max": 2_000,
      "delivery-limit": 3,
      "dead-letter-exchange": "failed",
      "dead-letter-routing-key": "shipping",
    },
  };
  return {
    definitions: {
      exchanges: [exchange("orders", "topic"), exchange("failed", "direct")],
      queues: [queue("shipping", { ...quorum, ...given }), queue("shipping.failed", quorum)],
      bindings: [binding("orders", "shipping", "#"), binding("failed", "shipping.failed", "shipping")],
      policies: [shipping],
    },
    consumers: { shipping: [4, { kind: "linear", first: "1s", max: "2s" }, "shipping.failed"] },
    sources: ["orders"],
  };
}

export const adoptedTopologies: Readonly<Record<string, AdoptedTopology>> = {
  // The samples of Spring AMQP: a rejected message waits in a queue, and the listener parks it after some `x-death`.
  "Spring AMQP with a waiting queue and a parking lot": {
    definitions: {
      exchanges: [exchange("orders", "topic")],
      queues: [
        queue("orders.q", { ...quorum, ...deadTo("orders.q.wait") }),
        queue("orders.q.wait", { ...quorum, ...waiting(2_000, "", "orders.q") }),
        queue("orders.q.parkingLot", quorum),
      ],
      bindings: [binding("orders", "orders.q", "order.#")],
    },
    consumers: { "orders.q": [5, { kind: "constant", delay: "2s" }, "orders.q.parkingLot"] },
    sources: ["orders"],
    rejected: "kept",
    unsaid: /without an end.*5 is a guess/,
  },
  // The same, as older guides declare it: waiting messages come back through the source, and two queues share an exchange.
  "Spring AMQP with a way back through its source": {
    definitions: {
      exchanges: [exchange("shop.events", "topic"), exchange("orders.dlx", "direct")],
      queues: [
        queue("orders.process", deadThrough("orders.dlx", "orders.retry")),
        queue("orders.retry", { "x-message-ttl": 2_000, ...deadThrough("shop.events", "orders.process") }),
        queue("orders.parking"),
      ],
      bindings: bound(
        "shop.events > orders.process: order.#",
        "shop.events > orders.process: orders.process",
        "orders.dlx > orders.retry: orders.retry",
        "orders.dlx > orders.parking: orders.parking",
      ),
    },
    consumers: { "orders.process": [5, { kind: "constant", delay: "2s" }, "orders.parking"] },
    sources: ["shop.events"],
    rejected: "kept",
    unsaid: /without an end.*5 is a guess/,
  },
  // Spring Cloud Stream, reference "RabbitMQ Binder", `autoBindDlq` with the default `republishToDlq`.
  "Spring Cloud Stream with autoBindDlq": {
    definitions: springDeadLetterQueue({ type: "quorum" }) as Definitions,
    consumers: { "orders.billing": [1, immediate, "orders.billing.dlq"] },
    sources: ["orders"],
    rejected: "kept",
    unsaid: /retries in its consumers' code show in no queue/,
  },
  // MassTransit, "RabbitMQ", section "Broker Topology": an exchange for each message type leads to that of the endpoint.
  MassTransit: {
    definitions: {
      exchanges: ["Contracts:OrderPlaced", "billing", "billing_error", "billing_skipped"].map((name) =>
        exchange(name, "fanout"),
      ),
      queues: ["billing", "billing_error", "billing_skipped"].map((name) => queue(name, quorum)),
      bindings: [
        binding("Contracts:OrderPlaced", "billing", "", "exchange"),
        ...["billing", "billing_error", "billing_skipped"].map((name) => binding(name, name)),
      ],
    },
    consumers: { billing: [1, immediate, "billing_error"] },
    sources: ["billing"],
    rejected: "lost today",
    unsaid: /MassTransit.*UseMessageRetry/,
  },
  // NServiceBus.RabbitMQ `DelayInfrastructure.cs` and `ConventionalRoutingTopology.cs`, with its queues for errors and audits.
  NServiceBus: {
    definitions: { ...levels, queues: [...levels.queues, queue("error", quorum), queue("audit", quorum)] },
    consumers: { Sales: [1, immediate, "Sales.dead"], Billing: [1, immediate, "Billing.dead"] },
    sources: ["Sales", "Billing"],
    rejected: "lost today",
    unsaid: /NServiceBus.*5 immediate retries/,
  },
  // kombu `native_delayed_delivery.py`: the levels of NServiceBus under other names.
  "Celery with native delayed delivery": {
    definitions: {
      exchanges: [...renamed.exchanges, exchange("tasks", "topic")],
      queues: [...renamed.queues, queue("tasks", quorum)],
      bindings: [
        ...renamed.bindings,
        binding("tasks", "tasks", "tasks"),
        binding("celery_delayed_delivery", "tasks", "#.tasks"),
      ],
    },
    consumers: { tasks: [1, immediate, "tasks.dead"] },
    sources: ["tasks"],
    rejected: "lost today",
    unsaid: /Celery.*max_retries=3/,
  },
  // kombu with its defaults: a direct exchange and a classic queue of one name, and queues of single workers.
  "Celery with its defaults": {
    definitions: {
      exchanges: [exchange("celery", "direct"), exchange("celery.pidbox", "fanout")],
      queues: [queue("celery"), { ...queue("celery@one.celery.pidbox"), durable: false, auto_delete: true }],
      bindings: [binding("celery", "celery", "celery"), binding("celery.pidbox", "celery@one.celery.pidbox")],
    },
    consumers: { celery: [1, immediate, "celery.dead"] },
    sources: ["celery"],
    rejected: "lost today",
    unsaid: /classic queue/,
  },
  // Symfony's AmqpExt `Connection.php`: a queue for each exchange, key and delay, which goes away after its use.
  "Symfony Messenger": {
    definitions: {
      exchanges: [exchange("messages", "fanout"), exchange("failed", "fanout"), exchange("delays", "direct")],
      queues: [queue("messages"), queue("failed"), ...[1_000, 2_000, 4_000].map(symfonyDelay)],
      bindings: [
        binding("messages", "messages"),
        binding("failed", "failed"),
        ...[1_000, 2_000, 4_000].map((delayMs) =>
          binding("delays", `delay_messages__${delayMs}_retry`, `delay_messages__${delayMs}_retry`),
        ),
      ],
    },
    consumers: { messages: [4, { kind: "exponential", first: "1s", factor: 2 }, "messages.dead"] },
    sources: ["messages"],
    rejected: "lost today",
    unsaid: /its consumers choose the waiting queue/,
  },
  // As in many tutorials: the consumer publishes to a queue for each delay, and at last to the dead queue.
  "three waiting queues by hand": {
    definitions: {
      exchanges: [exchange("events", "direct")],
      queues: [queue("billing", quorum), queue("billing.dlq", quorum), ...[1_000, 2_000, 3_000].map(tier)],
      bindings: [binding("events", "billing", "order"), binding("events", "billing", "refund")],
    },
    consumers: { billing: [4, { kind: "linear", first: "1s" }, "billing.dlq"] },
    sources: ["events"],
    rejected: "lost today",
    unsaid: /each of .* is used once is a guess/,
  },
  // The recipe of the RabbitMQ documentation for poison messages: a delivery limit and a dead-letter exchange.
  "a delivery limit and a dead queue": {
    definitions: {
      exchanges: [exchange("mail.dlx", "direct")],
      queues: [
        queue("mail", { ...quorum, "x-delivery-limit": 4, ...deadThrough("mail.dlx", "m") }),
        queue("dlq-mail", quorum),
      ],
      bindings: [binding("mail.dlx", "dlq-mail", "m")],
    },
    consumers: { mail: [5, immediate, "dlq-mail"] },
    sources: [],
    rejected: "kept",
    unsaid: /delays that its consumers make themselves/,
  },
  // Two teams named their dead queues, each in its own way.
  "dead queues without a scheme": {
    definitions: {
      exchanges: [],
      queues: [
        queue("mail", { ...quorum, "x-delivery-limit": 4, ...deadThrough("", "undelivered") }),
        queue("orders", { ...quorum, "x-delivery-limit": 2, ...deadThrough("", "orders.dlq") }),
        queue("undelivered", quorum),
        queue("orders.dlq", quorum),
      ],
      bindings: [],
    },
    consumers: { mail: [5, immediate, "undelivered"], orders: [3, immediate, "orders.dlq"] },
    sources: [],
    rejected: "kept",
    unsaid: /delays that its consumers make themselves/,
  },
  // A policy of the platform team sends all dead letters to one queue.
  "one dead queue for all": {
    definitions: {
      exchanges: [exchange("orders", "topic"), exchange("dlx", "fanout")],
      queues: ["mail", "billing", "graveyard"].map((name) => queue(name, quorum)),
      bindings: bound("orders > mail: order.*", "orders > billing: order.paid", "dlx > graveyard"),
      policies: [
        {
          name: "dead letters",
          vhost: "/",
          pattern: "^(mail|billing)$",
          "apply-to": "queues",
          priority: 1,
          definition: { "dead-letter-exchange": "dlx", "delivery-limit": 4 },
        },
      ],
    },
    consumers: { mail: [5, immediate, "graveyard"], billing: [5, immediate, "graveyard"] },
    sources: ["orders"],
    options: { deadQueue: "shared" },
    rejected: "kept",
    unsaid: /it needs these settings in a file of its own: \{"deadQueue":"shared"\}/,
  },
  // The documentation of RabbitMQ 4.3, "Delayed Retry", by a policy.
  "delayed retry by a policy": { ...delayedByPolicy(), rejected: "kept", unsaid: /nothing shows who makes it/ },
  // The same with an argument that keeps the queue from getting its settings by a policy.
  "delayed retry by a policy, and a limit by an argument": {
    ...delayedByPolicy({ "x-max-length": 10_000 }),
    rejected: "lost after",
    unsaid: /max-length is 10000/,
  },
  // A work queue and a waiting queue that dead-letter to each other through exchanges.
  "a circle of two queues": {
    definitions: singleWaitQueue({ deliveryLimit: 3 }) as Definitions,
    consumers: { billing: [5, { kind: "constant", delay: "5s" }, "billing.dead"] },
    sources: ["orders"],
    rejected: "kept",
    unsaid: /no queue keeps its dead letters today/,
  },
};

/** The topology as an export of RabbitMQ 4.3. */
export function exportOf({ definitions }: AdoptedTopology): string {
  return JSON.stringify({ rabbitmq_version: "4.3.6", vhosts, ...definitions });
}
