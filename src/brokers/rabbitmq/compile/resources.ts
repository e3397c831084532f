import { type TargetCapabilities, rabbitmqLimits } from "./capabilities.ts";
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
 * Only the policy with the highest priority applies to a queue. An administrator's catch-all policy usually has
 * priority 0 to 100. Ours is higher, so that it never replaces ours.
 */
const policyPriority = 1_000;

/** The arguments of every quorum queue. A full queue refuses new messages and never drops waiting ones. */
const quorum = { "x-queue-type": "quorum", "x-overflow": "reject-publish" } as const;

const noArguments = Object.freeze({});

export interface QueueDraft {
  readonly name: string;
  readonly role: QueueRole;
  readonly consumer: string | null;
  /** The destination of dead messages; null if messages end in the queue. */
  readonly deadLetterExchange: string | null;
  readonly deadLetterRoutingKey?: string;
  /** The arguments that the declaration adds. */
  readonly ownArguments?: QueueResource["arguments"];
  /** The values that the queue's policy tunes. */
  readonly tuning: Readonly<Record<string, string | number>>;
}

/**
 * Adds a quorum queue and its policy.
 *
 * Structure is in arguments, because no policy can change them. Tuning is in the policy, because changing it never
 * recreates a queue. A queue with nothing to tune gets a policy too. It keeps out an administrator's catch-all policy,
 * say one with a `message-ttl`, from messages that must stay.
 */
export function addQueue(draft: TopologyDraft, capabilities: TargetCapabilities, queue: QueueDraft): void {
  // Otherwise the broker would delete waiting messages that an operator looks at and puts back twenty-one times.
  const isKeeping = queue.role !== "work";
  const { limitIsArgument, unlimitedDeliveryLimit: unlimited } = capabilities;
  const resource: QueueResource = {
    name: queue.name,
    role: queue.role,
    consumer: queue.consumer,
    durable: true,
    autoDelete: false,
    arguments: {
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
      ...queue.ownArguments,
      ...(isKeeping && limitIsArgument && unlimited !== null ? { "x-delivery-limit": unlimited } : {}),
    },
  };
  const policy: PolicyResource = {
    name: queue.name,
    pattern: exactPattern(queue.name),
    applyTo: capabilities.policyScope,
    priority: policyPriority,
    definition: {
      overflow: "reject-publish",
      ...(isKeeping && !limitIsArgument ? { "delivery-limit": rabbitmqLimits.unreachedDeliveryLimit } : {}),
      ...queue.tuning,
    },
  };
  draft.policies.push(policy);
  draft.queues.push(resource);
}

/** Adds a shared queue, and an exchange of the same name that leads to it alone. */
export function addQueueWithExchange(
  draft: TopologyDraft,
  capabilities: TargetCapabilities,
  queue: Omit<QueueDraft, "role" | "consumer"> & { readonly role: QueueRole & ExchangeRole },
): void {
  const { name, role } = queue;
  addExchange(draft, { name, role, kind: "fanout", consumer: null });
  addQueue(draft, capabilities, { ...queue, consumer: null });
  addBinding(draft, { source: name, destination: name });
}

export function addExchange(
  draft: TopologyDraft,
  exchange: {
    readonly name: string;
    readonly role: ExchangeRole;
    readonly kind: ExchangeResource["kind"];
    readonly pluginType?: string | undefined;
    readonly consumer: string | null;
    readonly alternateExchange?: string;
    readonly isForeign?: boolean;
  },
): void {
  draft.exchanges.push({
    name: exchange.name,
    role: exchange.role,
    consumer: exchange.consumer,
    kind: exchange.kind,
    ...(exchange.pluginType === undefined ? {} : { pluginType: exchange.pluginType }),
    durable: true,
    autoDelete: false,
    arguments:
      exchange.alternateExchange === undefined ? noArguments : { "alternate-exchange": exchange.alternateExchange },
    ...(exchange.isForeign === true ? { owner: "other" } : {}),
  });
}

/**
 * Leads an exchange on to another one by a policy. A change of the policy takes effect at once for all later messages. A
 * binding cannot be moved like that: for a moment there would be two, or none.
 */
export function addWayOn(draft: TopologyDraft, exchange: string, to: string): void {
  draft.policies.push({
    name: exchange,
    pattern: exactPattern(exchange),
    applyTo: "exchanges",
    priority: policyPriority,
    definition: { "alternate-exchange": to },
  });
}

export function addBinding(
  draft: TopologyDraft,
  binding: {
    readonly source: string;
    readonly destination: string;
    readonly destinationKind?: BindingResource["destinationKind"];
    readonly routingKey?: string;
    readonly arguments?: BindingResource["arguments"];
  },
): void {
  draft.bindings.push({
    source: binding.source,
    destination: binding.destination,
    destinationKind: binding.destinationKind ?? "queue",
    routingKey: binding.routingKey ?? "",
    arguments: binding.arguments === undefined ? noArguments : binding.arguments,
  });
}
