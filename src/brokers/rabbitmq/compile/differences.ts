import { isDeepStrictEqual } from "node:util";

import type { BindingResource, ExchangeResource, Topology } from "./topology.ts";

type Values = Readonly<Record<string, unknown>>;

/** The resources on a broker that have the names of compiled ones. A name without an entry does not exist. */
export interface FoundResources {
  readonly queues: ReadonlyMap<string, FoundQueue>;
  readonly exchanges: ReadonlyMap<string, FoundExchange>;
  readonly bindings: readonly FoundBinding[];
}

export interface FoundQueue {
  readonly arguments: Values;
  /** The values of the policy in force, with an operator's policy merged into them. */
  readonly policy: Values;
}

export interface FoundExchange {
  readonly kind: string;
  readonly arguments: Values;
  /** The values of the policy in force. Null if the broker hides them. */
  readonly policy: Values | null;
}

export type FoundBinding = Omit<BindingResource, "arguments"> & { readonly arguments: Values };

/** A setting with both values; `undefined` if it is not set. */
export interface DifferentSetting {
  readonly key: string;
  readonly compiled: unknown;
  readonly deployed: unknown;
}

/** One difference between a compiled topology and the resources on a broker. */
export type Difference = MissingResource | DifferentResource | DifferentBinding;

interface MissingResource {
  readonly change: "missing";
  readonly kind: "queue" | "exchange";
  readonly name: string;
}

export interface DifferentResource {
  readonly change: "different";
  /** `foreign`: the exchange of another owner, compared by its kind alone. */
  readonly kind: "queue" | "exchange" | "foreign" | "queue-policy" | "exchange-policy";
  readonly name: string;
  readonly settings: readonly DifferentSetting[];
}

interface DifferentBinding {
  readonly change: "missing" | "extra";
  readonly kind: "binding";
  /** The source of the binding. */
  readonly name: string;
  readonly binding: FoundBinding;
}

/**
 * Compares a topology with the resources on a broker. The check of a starting consumer and `redeliver diff` both use
 * this one comparison. It judges nothing.
 *
 * If an end of a compiled binding is missing, the result has that end and not the binding. An extra binding counts if it
 * begins at an exchange of the retries, or leads to a compiled resource. Anyone may bind more queues to a source.
 *
 * @param isWhole true if the topology has all consumers of its system, and not one alone
 */
export function differencesIn(topology: Topology, found: FoundResources, isWhole = false): readonly Difference[] {
  const definitionsOf = (isExchange: boolean): ReadonlyMap<string, Values> =>
    new Map(
      topology.policies.flatMap(({ name, applyTo, definition }) =>
        (applyTo === "exchanges") === isExchange ? [[name, definition] as const] : [],
      ),
    );
  const queuePolicies = definitionsOf(false);
  const exchangePolicies = definitionsOf(true);
  const queues = topology.queues.flatMap(({ name, arguments: wanted }): readonly Difference[] => {
    const there = found.queues.get(name);
    if (there === undefined) return [{ change: "missing", kind: "queue", name }];
    return [
      ...different("queue", name, wanted, there.arguments),
      ...different("queue-policy", name, queuePolicies.get(name) ?? {}, there.policy),
    ];
  });
  const exchanges = topology.exchanges.flatMap(({ name, kind, arguments: wanted, owner }): readonly Difference[] => {
    const there = found.exchanges.get(name);
    if (there === undefined) return [{ change: "missing", kind: "exchange", name }];
    if (owner === "other") return different("foreign", name, { type: kind }, { type: there.kind });
    return [
      ...different("exchange", name, { type: kind, ...wanted }, { type: there.kind, ...there.arguments }),
      ...(there.policy === null
        ? []
        : different("exchange-policy", name, exchangePolicies.get(name) ?? {}, ofExchange(there.policy))),
    ];
  });
  return [...queues, ...exchanges, ...bindingDifferences(topology, found, isWhole)];
}

const exchangeKeys: ReadonlySet<string> = new Set([
  "alternate-exchange",
  "federation-upstream",
  "federation-upstream-set",
]);

/** A policy may be for queues as well, and an exchange ignores their keys. */
function ofExchange(policy: Values): Values {
  return Object.fromEntries(Object.entries(policy).filter(([key]) => exchangeKeys.has(key)));
}

/** The settings of one resource that differ, as one difference; empty if there are none. */
export function different(
  kind: DifferentResource["kind"],
  name: string,
  compiled: Values,
  deployed: Values,
): readonly DifferentResource[] {
  const keys = [...new Set([...Object.keys(compiled), ...Object.keys(deployed)])].toSorted();
  const settings = keys
    .filter((key) => !isDeepStrictEqual(compiled[key], deployed[key]))
    .map((key): DifferentSetting => ({ key, compiled: compiled[key], deployed: deployed[key] }));
  return settings.length === 0 ? [] : [{ change: "different", kind, name, settings }];
}

function bindingDifferences(topology: Topology, found: FoundResources, isWhole: boolean): readonly Difference[] {
  const wanted = new Set(topology.bindings.map(keyOf));
  const deployed = new Set(found.bindings.map(keyOf));
  const inner = new Set(
    topology.exchanges.filter((each) => (isWhole ? each.role !== "source" : isInner(each))).map(({ name }) => name),
  );
  const own = new Set(topology.queues.map(({ name }) => `queue ${name}`));
  for (const { name } of topology.exchanges) own.add(`exchange ${name}`);
  const isThere = ({ source, destination, destinationKind }: FoundBinding): boolean =>
    found.exchanges.has(source) && (destinationKind === "queue" ? found.queues : found.exchanges).has(destination);
  return [
    ...topology.bindings
      .filter((each) => isThere(each) && !deployed.has(keyOf(each)))
      .map((binding) => ({ change: "missing", kind: "binding", name: binding.source, binding }) as const),
    ...found.bindings
      .filter((each) => inner.has(each.source) || own.has(`${each.destinationKind} ${each.destination}`))
      .filter((each) => !wanted.has(keyOf(each)))
      .map((binding) => ({ change: "extra", kind: "binding", name: binding.source, binding }) as const),
  ];
}

/** True if only waiting or failed messages may pass through it, and all of its bindings are compiled for this consumer. */
export function isInner({ role }: ExchangeResource): boolean {
  switch (role) {
    case "failed":
    case "reasons":
    case "attempts":
    case "tier":
    case "attempt":
    case "wait":
      return true;
    // Other consumers have bindings there.
    case "again":
    case "source":
    case "dead":
    case "undeliverable":
      return false;
    default:
      return role satisfies never;
  }
}

/** Two bindings are one if everything in them is equal, in any order of the arguments. */
export function keyOf({ source, destination, destinationKind, routingKey, arguments: given }: FoundBinding): string {
  const sorted = Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([source, destination, destinationKind, routingKey, sorted]);
}

/** A binding in words, without its source. */
export function bindingText({ destination, destinationKind, routingKey, arguments: given }: FoundBinding): string {
  const values = Object.keys(given).length === 0 ? "" : `, ${JSON.stringify(given)}`;
  return `to the ${destinationKind} ${destination} with the key ${JSON.stringify(routingKey)}${values}`;
}
