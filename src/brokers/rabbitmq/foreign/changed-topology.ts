import type { Difference } from "../compile/differences.ts";
import { keyOf } from "../compile/differences.ts";
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

/** The name of the owner of a queue that nobody declares, as sentences about consumers use it. */
const ownerOf = (queue: string): string => `the undeclared queue ${queue}`;

/**
 * Adds the resources of a broker that the topology does not declare. Publishers may use each of the exchanges. A message
 * that reaches one of the queues is in foreign hands.
 *
 * It leaves out bindings between the two. They are differences, or belong to others who take from a source.
 */
export function withUndeclared(topology: Topology, found: BrokerTopology): Topology {
  const queues = new Set(topology.queues.map(({ name }) => name));
  const exchanges = new Set(topology.exchanges.map(({ name }) => name));
  const others = found.bindings.filter(
    ({ source, destination, destinationKind }) =>
      !exchanges.has(source) && !(destinationKind === "queue" ? queues : exchanges).has(destination),
  );
  return {
    ...topology,
    queues: [
      ...topology.queues,
      ...found.queues.flatMap(({ name, arguments: given }) =>
        queues.has(name) ? [] : [queueOf({ name, role: "work", consumer: ownerOf(name) }, given)],
      ),
    ],
    exchanges: [
      ...topology.exchanges,
      ...found.exchanges.flatMap(({ name, kind, arguments: given }): ExchangeResource[] =>
        exchanges.has(name)
          ? []
          : [{ ...permanent, name, role: "source", consumer: null, kind, arguments: compiledValues(given) }],
      ),
    ],
    bindings: [...topology.bindings, ...(others as readonly BindingResource[])],
  };
}

/** The topology with one difference in it, and otherwise as it is. */
export function changedBy(topology: Topology, difference: Difference): Topology {
  const { name } = difference;
  switch (difference.kind) {
    case "binding": {
      const key = keyOf(difference.binding);
      const bindings = topology.bindings.filter((each) => keyOf(each) !== key);
      const added = difference.change === "extra" ? [difference.binding as BindingResource] : [];
      return { ...topology, bindings: [...bindings, ...added] };
    }
    case "queue-policy":
    case "exchange-policy": {
      const isExchange = difference.kind === "exchange-policy";
      const isOwn = (each: PolicyResource): boolean =>
        each.name === name && (each.applyTo === "exchanges") === isExchange;
      const policy: PolicyResource = {
        name,
        pattern: exactPattern(name),
        applyTo: isExchange ? "exchanges" : "queues",
        priority: 1,
        definition: valuesAfter(topology.policies.find(isOwn)?.definition ?? {}, difference),
      };
      return { ...topology, policies: [...topology.policies.filter((each) => !isOwn(each)), policy] };
    }
    case "queue":
      return {
        ...topology,
        ...(isGone(difference)
          ? withoutEnds(topology, "queue", name)
          : {
              queues: topology.queues.map((each) =>
                each.name === name ? queueOf(each, valuesAfter(each.arguments, difference)) : each,
              ),
            }),
      };
    case "exchange":
    case "foreign":
      return {
        ...topology,
        ...(isGone(difference)
          ? withoutEnds(topology, "exchange", name)
          : {
              exchanges: topology.exchanges.map((each) =>
                each.name === name ? exchangeAfter(each, difference) : each,
              ),
            }),
      };
    default:
      return difference satisfies never;
  }
}

const permanent = { durable: true, autoDelete: false } as const;

/** A resource that an event deletes is judged as it is after that event. */
function isGone(difference: Difference): boolean {
  return (
    difference.change === "missing" ||
    ("settings" in difference && difference.settings.some(({ key }) => key === deletedBy))
  );
}

function withoutEnds(topology: Topology, kind: "queue" | "exchange", name: string): Partial<Topology> {
  const bindings = topology.bindings.filter(
    ({ source, destination, destinationKind }) =>
      !(destinationKind === kind && destination === name) && !(kind === "exchange" && source === name),
  );
  return kind === "queue"
    ? { bindings, queues: topology.queues.filter((each) => each.name !== name) }
    : { bindings, exchanges: topology.exchanges.filter((each) => each.name !== name) };
}

type Values = QueueResource["arguments"];

/** The semantics takes any value of an argument. The compiled types name only those that Redeliver writes. */
function compiledValues<Value>(values: Readonly<Record<string, unknown>>): Readonly<Record<string, Value>> {
  return values as Readonly<Record<string, Value>>;
}

function queueOf(queue: Pick<QueueResource, "name" | "role" | "consumer">, given: object): QueueResource {
  const { name, role, consumer } = queue;
  return { ...permanent, name, role, consumer, arguments: compiledValues({ ...given }) };
}

function valuesAfter(values: Values, difference: Difference): Values {
  const after: Record<string, unknown> = { ...values };
  for (const { key, deployed } of "settings" in difference ? difference.settings : []) {
    if (deployed === undefined) delete after[key];
    else after[key] = deployed;
  }
  return compiledValues(after);
}

function exchangeAfter(exchange: ExchangeResource, difference: Difference): ExchangeResource {
  const { type, ...given } = valuesAfter({ type: exchange.kind, ...exchange.arguments }, difference);
  return { ...exchange, kind: kindOf(type), arguments: compiledValues(given) };
}

/** A plugin's type may choose any of its bindings, and a fanout exchange takes them all. */
function kindOf(type: unknown): ExchangeResource["kind"] {
  return type === "direct" || type === "topic" || type === "headers" ? type : "fanout";
}
