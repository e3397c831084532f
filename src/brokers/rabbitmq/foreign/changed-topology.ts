import { overlay } from "../../../contract/overlay.ts";
import { nameOf } from "../compile/after-deployment.ts";
import type { Difference, DifferentResource } from "../compile/differences.ts";
import { bindingKey, namesIn, policyKey } from "../compile/differences.ts";
import { exactPattern } from "../compile/names.ts";
import type {
  BindingResource,
  ExchangeResource,
  PolicyResource,
  QueueResource,
  Topology,
} from "../compile/topology.ts";
import type { BrokerTopology } from "../prove/semantics.ts";

/** The key of an event that deletes a resource with its messages, among the settings of a difference. */
export const deletedBy = "deleted by";

const permanent = { durable: true, autoDelete: false } as const;

/** The semantics takes any value of an argument. The compiled types name only those that Redeliver writes. */
type Values = Readonly<Record<string, never>>;

/**
 * Adds the resources of a broker that the topology does not declare. Publishers may use each of the exchanges. A message
 * that reaches one of the queues is in foreign hands.
 *
 * It leaves out bindings between the two. They are differences, or belong to others who take from a source.
 */
export function withUndeclared(topology: Topology, found: BrokerTopology): Topology {
  const declared = namesIn(topology);
  const queues = found.queues.map(({ name, arguments: given }): QueueResource => {
    // Sentences about consumers name the owner of a queue.
    const consumer = `the undeclared queue ${name}`;
    return { ...permanent, name, role: "work", consumer, arguments: given as Values };
  });
  const exchanges = found.exchanges.map(({ name, kind, arguments: given }): ExchangeResource => {
    return { ...permanent, name, role: "source", consumer: null, kind, arguments: given as Values };
  });
  const bindings = found.bindings.filter(
    ({ source, destination, destinationKind }) =>
      !declared.exchange.has(source) && !declared[destinationKind].has(destination),
  ) as readonly BindingResource[];
  return {
    ...topology,
    queues: overlay(queues, topology.queues, nameOf),
    exchanges: overlay(exchanges, topology.exchanges, nameOf),
    bindings: [...topology.bindings, ...bindings],
  };
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
      const definition = valuesAfter(own?.definition ?? {}, difference);
      const policy: PolicyResource = { name, pattern: exactPattern(name), applyTo, priority: 1, definition };
      return { ...topology, policies: overlay(topology.policies, [policy], policyKey) };
    }
    case "queue": {
      const queues = topology.queues.map((each) =>
        each.name === name ? { ...each, arguments: valuesAfter(each.arguments, difference) } : each,
      );
      return { ...topology, queues };
    }
    case "exchange":
    case "foreign": {
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
