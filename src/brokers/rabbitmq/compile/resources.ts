import { type TargetCapabilities, rabbitmqLimits } from "./capabilities.ts";
import { exactPattern } from "./names.ts";
import type { QueueSettings } from "../../../declare/queue-arguments.ts";
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
export const policyPriority = 1_000;

/** A full queue refuses new messages and never drops waiting ones. */
const overflow = "reject-publish";

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
  /** The place of its structure. `policy` is for a queue that exists without these arguments. */
  readonly settings?: QueueSettings | undefined;
  /** The values that the queue's policy tunes. */
  readonly tuning: Readonly<Record<string, string | number>>;
}

/**
 * Adds a quorum queue and its policy.
 *
 * Structure is in arguments, because no policy can change them. Tuning is in the policy, because changing it never
 * recreates a queue. A queue with nothing to tune gets a policy too. It keeps out an administrator's catch-all policy,
 * say one with a `message-ttl`, from messages that must stay.
 *
 * A queue that exists without these arguments can never get them. Then its structure is in the policy as well.
 */
export function addQueue(draft: TopologyDraft, capabilities: TargetCapabilities, queue: QueueDraft): void {
  // Otherwise the broker would delete waiting messages that an operator looks at and puts back twenty-one times.
  const isKeeping = queue.role !== "work";
  const { limitIsArgument, unlimitedDeliveryLimit: unlimited } = capabilities;
  const { deadLetterExchange: exchange, deadLetterRoutingKey: key, settings = "arguments" } = queue;
  const structure = {
    overflow,
    ...(exchange !== null && {
      "dead-letter-exchange": exchange,
      ...(key === undefined ? {} : { "dead-letter-routing-key": key }),
      "dead-letter-strategy": "at-least-once",
    }),
  };
  const isInPolicy = settings === "policy";
  const resource: QueueResource = {
    name: queue.name,
    role: queue.role,
    consumer: queue.consumer,
    durable: true,
    autoDelete: false,
    arguments: {
      "x-queue-type": "quorum",
      ...(isInPolicy ? {} : asArguments(structure)),
      ...queue.ownArguments,
      ...(isKeeping && limitIsArgument && unlimited !== null && !isInPolicy ? { "x-delivery-limit": unlimited } : {}),
    },
  };
  const policy: PolicyResource = {
    name: queue.name,
    pattern: exactPattern(queue.name),
    applyTo: capabilities.policyScope,
    priority: policyPriority,
    definition: {
      ...(isInPolicy ? structure : { overflow }),
      ...(isKeeping && (!limitIsArgument || isInPolicy) && { "delivery-limit": rabbitmqLimits.unreachedDeliveryLimit }),
      ...queue.tuning,
    },
  };
  draft.policies.push(policy);
  draft.queues.push(resource);
}

function asArguments(structure: Readonly<Record<string, string>>): QueueResource["arguments"] {
  return Object.fromEntries(Object.entries(structure).map(([key, value]) => [`x-${key}`, value]));
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
