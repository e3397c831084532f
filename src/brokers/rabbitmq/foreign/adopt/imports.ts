import type { Imports } from "../../../../adopt/found.ts";
import { type Importable, importsBelow } from "../../../../adopt/imports-below.ts";
import type { RabbitmqCompiled } from "../../compile/compile.ts";
import type { BindingResource } from "../../compile/topology.ts";
import { bindingKey, bindingText, different } from "../../compile/differences.ts";
import { movesOf } from "./moves.ts";
import { bindingIdentity } from "../../compile/parts.ts";
import { type BrokerBinding, type BrokerTopology, semanticsVersionOf } from "../../prove/semantics.ts";
import { type Deployment, namelessVirtualHost, targetOf } from "../deployment.ts";
import { parseRabbitmqTarget } from "../../compile/target.ts";
import { lookAt } from "./looking.ts";
import { staysOf } from "./stays.ts";
import { bindingType, componentType, exchangeType, policyType, queueType } from "../import/resource-types.ts";

/**
 * The entries that put each resource of a compiled system that is on the broker as declared below its component. Other
 * resources are left out: importing one with another argument would make Pulumi replace it.
 *
 * @param component the name of the component in the program
 * @param url of the management API; null if the input is a file
 */
export function importsOf(
  deployment: Deployment,
  compiled: RabbitmqCompiled,
  component: string,
  url: string | null,
): Imports {
  const [host] = deployment.virtualHosts;
  if (host === undefined) return { entries: [], left: [], present: [], declared: 0, moves: [], stays: [] };
  const { name, ownName = name } = host;
  const all = compare(compiled, host.topology, ownName);
  const work = compiled.contracts.flatMap(({ workQueue }) => workQueue ?? []);
  const looking = lookAt(host.topology, versionOf(deployment, compiled), host.shovels, work);
  const virtualHost = ownName === namelessVirtualHost ? "VHOST" : ownName;
  const moves = movesOf(looking, compiled, all, { virtualHost, url });
  // A dead queue that stays is the new queue's, too.
  const kept = new Set(moves.flatMap(({ keptDead }) => [`queue ${keptDead}`, `policy ${keptDead}`]));
  const shared = all.map((each) => (kept.has(each.place) ? { ...each, consumer: null } : each));
  return importsBelow(componentType, component, shared, moves, staysOf(looking, compiled, moves, { virtualHost, url }));
}

function compare({ topology }: RabbitmqCompiled, found: BrokerTopology, host: string): readonly Importable[] {
  const queues = new Map(found.queues.map((queue) => [queue.name, queue]));
  const exchanges = new Map(found.exchanges.map((exchange) => [exchange.name, exchange]));
  const policies = new Map(found.policies.flatMap((each) => (each.kind === "user" ? [[each.name, each]] : [])));
  const bindings = new Map(found.bindings.map((binding) => [bindingKey(binding), binding]));
  // A queue and an exchange may have one name.
  const ownersOf = {
    queue: new Map(topology.queues.map(({ name, consumer }) => [name, consumer])),
    exchange: new Map(topology.exchanges.map(({ name, consumer }) => [name, consumer])),
  };
  const named = (
    type: string,
    kind: string,
    { name, ...wanted }: Readonly<Record<string, unknown>> & { readonly name: string },
    there: Readonly<Record<string, unknown>> | undefined,
  ): Importable => ({
    type,
    logicalName: name,
    id: there === undefined ? null : `${name}@${host}`,
    reason: there === undefined ? null : reasonOf(wanted, there),
    isOverwritten: kind === "policy",
    place: `${kind} ${name}`,
    consumer: (kind === "exchange" ? null : ownersOf.queue.get(name)) ?? ownersOf.exchange.get(name) ?? null,
  });
  return [
    ...topology.queues.map(({ name, arguments: given }) => {
      const queue = queues.get(name);
      const goes = queue?.goesWith?.join(", ");
      return named(
        queueType,
        "queue",
        { name, ...given },
        queue && { ...queue.arguments, "x-queue-type": queue.kind, ...(goes ? { "goes with": goes } : {}) },
      );
    }),
    ...topology.exchanges
      .filter(({ owner }) => owner !== "other")
      .map(({ name, kind, arguments: given }) => {
        const exchange = exchanges.get(name);
        const goes = exchange?.goesWith?.join(", ");
        const type = exchange?.pluginType ?? exchange?.kind;
        const there = exchange && { type, ...exchange.arguments, ...(goes ? { "goes with": goes } : {}) };
        return named(exchangeType, "exchange", { name, type: kind, ...given }, there);
      }),
    ...topology.policies.map(({ name, pattern, applyTo, priority, definition }) => {
      const policy = policies.get(name);
      const there = policy && {
        pattern: policy.pattern,
        "apply-to": policy.applyTo,
        priority: policy.priority,
        ...policy.definition,
      };
      return named(policyType, "policy", { name, pattern, "apply-to": applyTo, priority, ...definition }, there);
    }),
    ...topology.bindings.map((binding) => ({
      ...importableBinding(binding, bindings.get(bindingKey(binding)), host),
      consumer:
        ownersOf[binding.destinationKind].get(binding.destination) ?? ownersOf.exchange.get(binding.source) ?? null,
    })),
  ];
}

function importableBinding(binding: BindingResource, there: BrokerBinding | undefined, host: string): Importable {
  const { source, destination, destinationKind } = binding;
  const known = {
    type: bindingType,
    logicalName: bindingIdentity(binding),
    isOverwritten: true,
    place: `binding of ${source} ${bindingText(binding)}`,
  };
  if (there === undefined) return { ...known, id: null, reason: null };
  const key = propertiesKeyOf(there);
  const virtualHost = host.replaceAll("%", "%25").replaceAll("/", "%2F");
  return {
    ...known,
    id: [virtualHost, source, destination, destinationKind, key ?? ""].join("/"),
    reason: key === null ? "only a running broker shows its id: read it with --url" : null,
  };
}

function reasonOf(wanted: Readonly<Record<string, unknown>>, there: Readonly<Record<string, unknown>>): string | null {
  const [difference] = different("queue", "", wanted, there);
  const text = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));
  return difference === undefined
    ? null
    : difference.settings
        .map(({ key, declared, deployed }) => `${key} is ${text(deployed)}, declared is ${text(declared)}`)
        .join("; ");
}

/**
 * The broker's name for a key without arguments. With arguments it is a hash that only the broker computes. Source:
 * `rabbit_mgmt_format:pack_binding_props/2`.
 */
function propertiesKeyOf({ propertiesKey, routingKey, arguments: given }: BrokerBinding): string | null {
  if (propertiesKey !== undefined) return propertiesKey;
  if (Object.keys(given).length > 0) return null;
  return routingKey === "" ? "~" : quoted(routingKey);
}

/** Percent-encodes all but letters, digits, dots, dashes and underscores. */
function quoted(text: string): string {
  return encodeURIComponent(text)
    .replaceAll(/[!'()*~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

/** The version of the broker itself, or else that of the target. */
function versionOf(deployment: Deployment, { target }: RabbitmqCompiled) {
  const own = targetOf(deployment);
  if (own.ok && own.value !== null) return semanticsVersionOf(own.value);
  const compiled = parseRabbitmqTarget(target.split("@")[1] ?? "");
  if (!compiled.ok) throw new Error("a compiled system is for a known version");
  return semanticsVersionOf(compiled.value);
}
