import type { DifferentSetting } from "../../drift.ts";
import { isDeepStrictEqual } from "node:util";

import {
  type BindingResource,
  type ExchangeResource,
  type ExchangeRole,
  type Topology,
  asInForce,
} from "./topology.ts";

type Values = Readonly<Record<string, unknown>>;

/** The resources on a broker that have the names of compiled ones. A name without an entry does not exist. */
export interface FoundResources {
  readonly queues: ReadonlyMap<string, FoundQueue>;
  readonly exchanges: ReadonlyMap<string, FoundExchange>;
  readonly bindings: readonly FoundBinding[];
}

export interface FoundQueue {
  readonly arguments: Values;
  /** The values of the policy in force, with an operator's policy merged into them. Null if the broker hides them. */
  readonly policy: Values | null;
}

export interface FoundExchange extends FoundQueue {
  readonly kind: string;
  /** True if it is not durable: a restart of the broker deletes it, with all bindings of its queues. */
  readonly goesAtRestart?: boolean;
  /** True if the broker refuses publishes to it. */
  readonly isInternal?: boolean;
}

export type FoundBinding = Omit<BindingResource, "arguments"> & { readonly arguments: Values };

/**
 * The compared settings of an exchange of another owner, and the fix for each. A restart deletes a transient one, and its
 * owner makes no bindings of ours. Nobody can change the arguments of an exchange that exists.
 */
export const foreignWords = {
  foreign: {
    what: "its kind or its durability",
    help: "it belongs to somebody else: declare the kind that it has, and ask its owner for a durable exchange that is not internal",
  },
  "foreign-arguments": {
    what: "one of its arguments",
    help: "it belongs to somebody else: declare the values that it has, or ask its owner for an exchange with the declared ones",
  },
} as const;

/** The setting of a resource that an event deletes. */
export const deletedBy = "deleted by";

/** The setting of an exchange that the broker refuses publishes to. */
export const internal = "internal";

/** One difference between a compiled topology and the resources on a broker. */
export type Difference = DifferentResource | DifferentBinding;

export interface DifferentResource {
  readonly change: "missing" | "different";
  /**
   * `foreign`: the exchange of another owner, compared by its kind, and whether a restart deletes it.
   * `foreign-arguments`: the same exchange, by the arguments that are declared.
   */
  readonly kind: "queue" | "exchange" | "foreign" | "foreign-arguments" | "queue-policy" | "exchange-policy";
  readonly name: string;
  /** Empty if it is missing. */
  readonly settings: readonly DifferentSetting[];
}

interface DifferentBinding {
  readonly change: "missing" | "extra";
  readonly kind: "binding";
  /** The source of the binding. */
  readonly name: string;
  readonly settings: readonly [];
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
  const policies = new Map(asInForce(topology).policies.map((each) => [policyKey(each), each.definition]));
  const inForce = (kind: "queue" | "exchange", name: string, policy: Values | null): readonly Difference[] =>
    policy === null ? [] : different(`${kind}-policy`, name, policies.get(`${kind} ${name}`) ?? {}, policy);
  const queues = topology.queues.flatMap(({ name, arguments: wanted }): readonly Difference[] => {
    const there = found.queues.get(name);
    if (there === undefined) return [{ change: "missing", kind: "queue", name, settings: [] }];
    return [...different("queue", name, wanted, there.arguments), ...inForce("queue", name, there.policy)];
  });
  const exchanges = topology.exchanges.flatMap(
    ({ name, kind, pluginType, arguments: wanted, owner, assumedArguments = {} }): readonly Difference[] => {
      const there = found.exchanges.get(name);
      if (there === undefined) return [{ change: "missing", kind: "exchange", name, settings: [] }];
      // The owner's publishers may use another exchange that leads into it.
      const isFed = owner === "other" && found.bindings.some((each) => isInto(each, name));
      const deployed = { type: there.kind, ...(there.isInternal === true && !isFed ? { [internal]: true } : {}) };
      if (owner === "other") {
        const goes = there.goesAtRestart === true ? { [deletedBy]: "a restart" } : {};
        return [
          ...different("foreign", name, { type: pluginType ?? kind }, { ...deployed, ...goes }),
          ...differentArguments(name, assumedArguments, there.arguments),
        ];
      }
      return [
        ...different("exchange", name, { type: kind, ...wanted }, { ...deployed, ...there.arguments }),
        ...inForce("exchange", name, ofExchange(there.policy)),
      ];
    },
  );
  return [...queues, ...exchanges, ...bindingDifferences(topology, found, isWhole)];
}

/** Compares the declared arguments of another owner's exchange. The others are its owner's business. */
export function differentArguments(name: string, declared: Values, deployed: Values) {
  const named = Object.entries(deployed).filter(([key]) => Object.hasOwn(declared, key));
  return different("foreign-arguments", name, declared, Object.fromEntries(named));
}

function isInto({ destination, destinationKind }: FoundBinding, exchange: string): boolean {
  return destinationKind === "exchange" && destination === exchange;
}

const exchangeKeys: ReadonlySet<string> = new Set([
  "alternate-exchange",
  "federation-upstream",
  "federation-upstream-set",
]);

/** A policy may be for queues as well, and an exchange ignores their keys. */
export function ofExchange<Policy extends Values | null>(policy: Policy): Policy {
  return (policy && Object.fromEntries(Object.entries(policy).filter(([key]) => exchangeKeys.has(key)))) as Policy;
}

/** The settings of one resource that differ, as one difference; empty if there are none. */
export function different<Kind extends DifferentResource["kind"]>(
  kind: Kind,
  name: string,
  declared: Values,
  deployed: Values,
): readonly (DifferentResource & { readonly kind: Kind })[] {
  // An argument may have the name of a method of every object, such as valueOf.
  const [wanted, there] = [new Map(Object.entries(declared)), new Map(Object.entries(deployed))];
  const settings = [...new Set([...wanted.keys(), ...there.keys()])]
    .toSorted()
    .map((key): DifferentSetting => ({ key, declared: wanted.get(key), deployed: there.get(key) }))
    .filter((each) => !isDeepStrictEqual(each.declared, each.deployed));
  return settings.length === 0 ? [] : [{ change: "different", kind, name, settings }];
}

function bindingDifferences(topology: Topology, found: FoundResources, isWhole: boolean): readonly Difference[] {
  const wanted = new Set(topology.bindings.map(bindingKey));
  const deployed = new Set(found.bindings.map(bindingKey));
  const inner = new Set(
    topology.exchanges.filter((each) => (isWhole ? each.role !== "source" : isInner(each))).map(({ name }) => name),
  );
  // Other teams decide which exchanges lead into theirs.
  const own = namesIn({ ...topology, exchanges: topology.exchanges.filter(({ owner }) => owner !== "other") });
  const there = { queue: found.queues, exchange: found.exchanges };
  const missing = topology.bindings.filter(
    (each) =>
      found.exchanges.has(each.source) &&
      there[each.destinationKind].has(each.destination) &&
      !deployed.has(bindingKey(each)),
  );
  const extra = found.bindings.filter(
    (each) =>
      (inner.has(each.source) || own[each.destinationKind].has(each.destination)) && !wanted.has(bindingKey(each)),
  );
  const differenceOf = (change: "missing" | "extra") => (binding: FoundBinding) =>
    ({ change, kind: "binding", name: binding.source, settings: [], binding }) as const;
  return [...missing.map(differenceOf("missing")), ...extra.map(differenceOf("extra"))];
}

/** Only waiting or failed messages pass through these, and all of their bindings are compiled for one consumer. */
const innerRoles: ReadonlySet<ExchangeRole> = new Set(["failed", "reasons", "attempts", "tier", "attempt", "wait"]);

export function isInner({ role }: ExchangeResource): boolean {
  return innerRoles.has(role);
}

/** Two bindings are one if everything in them is equal, in any order of the arguments. */
export function bindingKey({
  source,
  destination,
  destinationKind,
  routingKey,
  arguments: given,
}: FoundBinding): string {
  const sorted = Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([source, destination, destinationKind, routingKey, sorted]);
}

/** The names of the queues and exchanges, by the kind that a binding has for its destination. */
export function namesIn({ queues, exchanges }: Readonly<Record<"queues" | "exchanges", readonly Named[]>>) {
  const namesOf = (all: readonly Named[]): ReadonlySet<string> => new Set(all.map(({ name }) => name));
  return { queue: namesOf(queues), exchange: namesOf(exchanges) };
}

interface Named {
  readonly name: string;
}

/** The resource that a policy is for: a queue and an exchange may have one name. */
export function policyKey({ name, applyTo }: Named & { readonly applyTo: string }): string {
  return `${applyTo === "exchanges" ? "exchange" : "queue"} ${name}`;
}

/** A binding in words, without its source. */
export function bindingText({ destination, destinationKind, routingKey, arguments: given }: FoundBinding): string {
  const values = Object.keys(given).length === 0 ? "" : `, ${JSON.stringify(given)}`;
  return `to the ${destinationKind} ${destination} with the key ${JSON.stringify(routingKey)}${values}`;
}
