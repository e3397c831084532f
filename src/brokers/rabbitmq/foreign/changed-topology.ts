import { overlay } from "../../../contract/overlay.ts";
import { nameOf } from "../compile/after-deployment.ts";
import type { Difference, DifferentResource, FoundBinding } from "../compile/differences.ts";
import { bindingKey, deletedBy, namesIn, policyKey } from "../compile/differences.ts";
import { exactPattern, prefixOf, sharedRole } from "../compile/names.ts";
import type {
  BindingResource,
  ExchangeResource,
  PolicyResource,
  QueueResource,
  Topology,
} from "../compile/topology.ts";
import type { BrokerTopology, SemanticsVersion } from "../prove/semantics.ts";
import { definitionInForce, exchangePolicyInForce, indexPolicies, versionRules } from "../prove/semantics.ts";

const permanent = { durable: true, autoDelete: false } as const;

/** The semantics takes any value of an argument. The compiled types name only those that Redeliver writes. */
type Values = Readonly<Record<string, never>>;

/**
 * Adds the resources of a broker that the topology does not declare. Publishers may use each of the exchanges. A message
 * that reaches one of the queues is in foreign hands. Only the ways of an earlier or a newer declaration of the system
 * are as open to its messages as declared ones.
 *
 * It leaves out other bindings between the two. They are differences, or belong to others who take from a source.
 *
 * @param ways the bindings of such declarations that have a declared end
 */
export function withUndeclared(
  topology: Topology,
  found: BrokerTopology,
  ways: readonly FoundBinding[],
  version: SemanticsVersion,
): Topology {
  const prefix = prefixOf(topology);
  const declared = namesIn(topology);
  const index = indexPolicies(found.policies);
  const isWay = (queue: string): boolean =>
    ["tier", "wait", "undeliverable"].includes(sharedRole(prefix, queue) ?? "") && !declared.queue.has(queue);
  const queues = found.queues.map(({ name, arguments: given }): QueueResource => {
    // Sentences about consumers name the owner of a queue.
    const consumer = isWay(name) ? null : `the undeclared queue ${name}`;
    const role = consumer === null ? "wait" : "work";
    return { ...permanent, name, role, consumer, arguments: given as Values };
  });
  const exchanges = found.exchanges.map(({ name, kind, arguments: given }): ExchangeResource => {
    const role = sharedRole(prefix, name) ?? "source";
    return { ...permanent, name, role, consumer: null, kind, arguments: given as Values };
  });
  const bindings = found.bindings.filter(
    ({ source, destination, destinationKind }) =>
      !declared.exchange.has(source) && !declared[destinationKind].has(destination),
  );
  // Without their policies messages would wait there for ever, or find no way on.
  const policies = [
    ...found.queues
      .filter(({ name }) => isWay(name))
      .map((queue) => policyFor("queues", queue.name, definitionInForce(queue, index, versionRules[version]))),
    ...found.exchanges
      .filter(({ name }) => !declared.exchange.has(name))
      .map(({ name }) => policyFor("exchanges", name, exchangePolicyInForce(index, name)?.definition ?? {})),
  ];
  return {
    ...topology,
    queues: overlay(queues, topology.queues, nameOf),
    exchanges: overlay(exchanges, topology.exchanges, nameOf),
    bindings: overlay([...bindings, ...ways] as readonly BindingResource[], topology.bindings, bindingKey),
    policies: [...topology.policies, ...policies],
  };
}

function policyFor(applyTo: PolicyResource["applyTo"], name: string, definition: object): PolicyResource {
  return { name, pattern: exactPattern(name), applyTo, priority: 1, definition: definition as Values };
}

/** The topology with one difference in it, and otherwise as it is. */
export function changedBy(topology: Topology, difference: Difference): Topology {
  const { kind, name } = difference;
  if (kind === "binding") {
    const key = bindingKey(difference.binding);
    const bindings = topology.bindings.filter((each) => bindingKey(each) !== key);
    const added = difference.change === "extra" ? [difference.binding as BindingResource] : [];
    return { ...topology, bindings: [...bindings, ...added] };
  }
  // A resource that an event deletes is judged as it is after that event.
  const isGone = difference.change === "missing" || difference.settings.some(({ key }) => key === deletedBy);
  if (isGone) return without(topology, kind === "queue" ? kind : "exchange", name);
  switch (kind) {
    case "queue-policy":
    case "exchange-policy": {
      const applyTo = kind === "exchange-policy" ? "exchanges" : "queues";
      const own = topology.policies.find((each) => policyKey(each) === policyKey({ name, applyTo }));
      const policy = policyFor(applyTo, name, valuesAfter(own?.definition ?? {}, difference));
      return { ...topology, policies: overlay(topology.policies, [policy], policyKey) };
    }
    case "queue": {
      const queues = topology.queues.map((each) =>
        each.name === name ? { ...each, arguments: valuesAfter(each.arguments, difference) } : each,
      );
      return { ...topology, queues };
    }
    case "exchange":
    case "foreign":
    case "foreign-arguments": {
      const exchanges = topology.exchanges.map((each) => {
        if (each.name !== name) return each;
        const { type, ...given } = valuesAfter({ type: each.kind, ...each.arguments }, difference);
        return { ...each, kind: kindOf(type), arguments: given };
      });
      return { ...topology, exchanges };
    }
    default:
      return kind satisfies never;
  }
}

/** A broker deletes the bindings of a queue or an exchange with it. */
function without(topology: Topology, kind: "queue" | "exchange", name: string): Topology {
  const list = kind === "queue" ? "queues" : "exchanges";
  const isLoose = ({ source, destination, destinationKind }: BindingResource): boolean =>
    (destinationKind === kind && destination === name) || (kind === "exchange" && source === name);
  return {
    ...topology,
    [list]: topology[list].filter((each) => each.name !== name),
    bindings: topology.bindings.filter((each) => !isLoose(each)),
  };
}

function valuesAfter(values: object, { settings }: DifferentResource): Values {
  const changed = settings.map(({ key, deployed }) => [key, deployed] as const);
  const all = Object.entries({ ...values, ...Object.fromEntries(changed) });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined)) as Values;
}

/** A plugin's type may choose any of its bindings, and a fanout exchange takes them all. */
function kindOf(type: unknown): ExchangeResource["kind"] {
  return type === "direct" || type === "topic" || type === "headers" ? type : "fanout";
}

/**
 * The differences without which another one misleads.
 *
 * - For a policy, the undeclared arguments of its queue with the same keys. If the queue has the limit by itself, a policy
 *   that is gone changes nothing.
 * - For a queue that dead-letters into another exchange, the ways on from there.
 */
export function belonging(
  { kind, name, settings }: Difference,
  ofQueues: ReadonlyMap<string, DifferentResource>,
  all: readonly Difference[],
): readonly Difference[] {
  const exchange = settings.find(({ key }) => key.replace(/^x-/, "") === "dead-letter-exchange")?.deployed;
  const ways = all.filter(
    (each) => each.kind === "binding" && each.change === "extra" && each.binding.source === exchange,
  );
  const queue = kind === "queue-policy" ? ofQueues.get(name) : undefined;
  if (queue === undefined) return ways;
  const keys = new Set(settings.map(({ key }) => `x-${key}`));
  const own = queue.settings.filter(({ key, deployed }) => keys.has(key) && deployed !== undefined);
  return [...ways, { ...queue, settings: own }];
}
