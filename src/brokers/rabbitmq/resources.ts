import type { RabbitmqCapabilities } from "./capabilities.ts";
import { exactPattern } from "./names.ts";
import type {
  BindingResource,
  ExchangeResource,
  ExchangeRole,
  PolicyResource,
  QueueResource,
  QueueRole,
  TopologyDraft,
} from "./topology.ts";

/**
 * High enough that a catch-all policy of an administrator (usually priority 0 to 100) does not take over one of our
 * queues: only the policy with the highest priority applies to a queue, the others are without effect.
 */
const policyPriority = 1_000;

/** What every quorum queue gets: a full queue refuses new messages and never drops waiting ones. */
const quorum = { "x-queue-type": "quorum", "x-overflow": "reject-publish" } as const;

const noArguments = Object.freeze({});

export interface QueueDraft {
  readonly name: string;
  readonly role: QueueRole;
  readonly consumer: string | null;
  /** Where dead messages go; null where the queue is an end. */
  readonly deadLetterExchange: string | null;
  readonly deadLetterRoutingKey?: string;
  /** What the queue's policy tunes. */
  readonly tuning: Readonly<Record<string, string | number>>;
}

/**
 * Adds a quorum queue and its policy.
 *
 * Structure is in arguments, where no policy can change it; tuning is in the policy, so that it never recreates a queue.
 * A queue with nothing to tune gets a policy as well: it keeps an administrator's catch-all policy, say one with a
 * `message-ttl`, away from messages that must stay.
 */
export function addQueue(draft: TopologyDraft, capabilities: RabbitmqCapabilities, queue: QueueDraft): void {
  const keepsItsMessages = queue.role !== "work" && capabilities.unlimitedDeliveryLimit !== null;
  const resource: QueueResource = {
    name: queue.name,
    role: queue.role,
    consumer: queue.consumer,
    durable: true,
    autoDelete: false,
    arguments: Object.freeze({
      ...quorum,
      ...(queue.deadLetterExchange === null
        ? {}
        : {
            "x-dead-letter-exchange": queue.deadLetterExchange,
            ...(queue.deadLetterRoutingKey === undefined
              ? {}
              : { "x-dead-letter-routing-key": queue.deadLetterRoutingKey }),
            "x-dead-letter-strategy": "at-least-once",
          }),
      // Somebody who looks at waiting messages and puts them back, twenty-one times, would otherwise delete them.
      ...(keepsItsMessages ? { "x-delivery-limit": capabilities.unlimitedDeliveryLimit as number } : {}),
    }),
  };
  const policy: PolicyResource = {
    name: queue.name,
    pattern: exactPattern(queue.name),
    applyTo: capabilities.policyScope,
    priority: policyPriority,
    definition: Object.freeze({ overflow: "reject-publish", ...queue.tuning }),
  };
  draft.policies.push(Object.freeze(policy));
  draft.queues.push(Object.freeze(resource));
}

export function addExchange(
  draft: TopologyDraft,
  exchange: {
    readonly name: string;
    readonly role: ExchangeRole;
    readonly kind: ExchangeResource["kind"];
    readonly consumer: string | null;
    readonly alternateExchange?: string;
  },
): void {
  draft.exchanges.push(
    Object.freeze({
      name: exchange.name,
      role: exchange.role,
      consumer: exchange.consumer,
      kind: exchange.kind,
      durable: true,
      autoDelete: false,
      arguments:
        exchange.alternateExchange === undefined
          ? noArguments
          : Object.freeze({ "alternate-exchange": exchange.alternateExchange }),
    }),
  );
}

export function addBinding(
  draft: TopologyDraft,
  binding: {
    readonly source: string;
    readonly destination: string;
    readonly destinationKind?: BindingResource["destinationKind"];
    readonly routingKey?: string;
    readonly arguments?: Readonly<Record<string, string>>;
  },
): void {
  draft.bindings.push(
    Object.freeze({
      source: binding.source,
      destination: binding.destination,
      destinationKind: binding.destinationKind ?? "queue",
      routingKey: binding.routingKey ?? "",
      arguments: binding.arguments === undefined ? noArguments : Object.freeze(binding.arguments),
    }),
  );
}
