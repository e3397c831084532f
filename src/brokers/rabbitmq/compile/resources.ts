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

export interface QueueDraft extends Pick<QueueResource, "name" | "role"> {
  /** Left out for a shared queue. */
  readonly consumer?: string | null;
  /** The destination of dead messages. Left out if messages end in the queue. */
  readonly deadLetterExchange?: string;
  readonly deadLetterRoutingKey?: string;
  /** The arguments that the declaration adds. */
  readonly ownArguments?: QueueResource["arguments"];
  /** The place of its structure. `policy` is for a queue that exists without these arguments. */
  readonly settings?: QueueSettings | undefined;
  /** The values that the queue's policy tunes. */
  readonly tuning?: Readonly<Record<string, string | number>>;
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
  const { name, role, consumer = null, deadLetterExchange: exchange, deadLetterRoutingKey: key } = queue;
  // Otherwise the broker would delete waiting messages that an operator looks at and puts back twenty-one times.
  const isKeeping = role !== "work";
  const { limitIsArgument, unlimitedDeliveryLimit: unlimited } = capabilities;
  const structure = {
    overflow,
    ...(exchange !== undefined && {
      "dead-letter-exchange": exchange,
      ...(key === undefined ? {} : { "dead-letter-routing-key": key }),
      "dead-letter-strategy": "at-least-once",
    }),
  };
  const isInPolicy = queue.settings === "policy";
  const resource: QueueResource = {
    name,
    role,
    consumer,
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
    name,
    pattern: exactPattern(name),
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
  addExchange(draft, { name, role, kind: "fanout" });
  addQueue(draft, capabilities, queue);
  addBinding(draft, { source: name, destination: name });
}

export function addExchange(
  draft: TopologyDraft,
  exchange: Pick<ExchangeResource, "name" | "role" | "kind"> &
    Partial<Omit<ExchangeResource, "pluginType">> & { readonly pluginType?: string | undefined },
): void {
  const { name, role, consumer = null, kind, pluginType, ...others } = exchange;
  const made = { name, role, consumer, kind, ...(pluginType === undefined ? {} : { pluginType }) };
  draft.exchanges.push({ ...made, durable: true, autoDelete: false, arguments: noArguments, ...others });
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
  binding: Pick<BindingResource, "source" | "destination"> & Partial<BindingResource>,
): void {
  const { source, destination, ...others } = binding;
  draft.bindings.push({
    source,
    destination,
    destinationKind: "queue",
    routingKey: "",
    arguments: noArguments,
    ...others,
  });
}
