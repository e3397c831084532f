import type { Checked } from "../../../../diagnostics/diagnostic.ts";
import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import { type PulumiResource, isUnreadable, nameIn, providerNames } from "../../../../foreign/pulumi-resource.ts";
import type { Deployment } from "../deployment.ts";
import type { Arguments, HeaderValue } from "../../prove/semantics.ts";
import { assembleDeployment } from "./assemble.ts";
import { type Drafts, type DraftVirtualHost, type Lifetime, draftOf } from "./draft.ts";
import { argumentsOf, writtenArguments } from "./arguments.ts";
import {
  bindingType,
  componentType,
  exchangeType,
  operatorPolicyType,
  policyType,
  queueType,
  virtualHostType,
} from "./resource-types.ts";
import { readWithout } from "../../../../foreign/unread.ts";

/** Adds a resource to its virtual host. False if one of its values cannot be read. */
type AddResource = (properties: Entry, draft: DraftVirtualHost) => boolean;

const adders: Readonly<Record<string, AddResource>> = Object.freeze({
  [virtualHostType]: addVirtualHost,
  [exchangeType]: addExchange,
  [queueType]: addQueue,
  [bindingType]: addBinding,
  [policyType]: (properties, draft) => addPolicy("user", properties, draft),
  [operatorPolicyType]: (properties, draft) => addPolicy("operator", properties, draft),
});

export function isRabbitmqResource({ type }: Pick<PulumiResource, "type">): boolean {
  return Object.hasOwn(adders, type);
}

/**
 * The broker's content after a program with resources of @pulumi/rabbitmq. Only Redeliver's own component names the
 * version of the broker.
 *
 * A resource with a secret or unknown value that routes messages is left out, with a warning that names it. Redeliver
 * could only guess the value, and a secret must never appear.
 *
 * @param resources those of other providers are skipped
 */
export function deploymentOfResources(resources: readonly PulumiResource[]): Checked<Deployment> {
  const drafts: Drafts = new Map();
  const leftOut: string[] = [];
  const own = resources.filter(isRabbitmqResource);
  const virtualHostOf = virtualHostNamer(own);
  for (const resource of own) {
    const name = virtualHostOf(resource);
    const isAdded =
      name !== null &&
      adders[resource.type]?.(resource.properties, draftOf(drafts, name, ownNameOf(resource) ?? name)) === true;
    if (!isAdded) leftOut.push(nameIn(resource.urn));
  }
  const { deployment, warnings } = assembleDeployment(versionIn(resources), drafts, true);
  // A queue that was left out is in the stack, so no warning says that it is missing.
  const hasAllQueues = own.every(({ type, urn }) => type !== queueType || !leftOut.includes(nameIn(urn)));
  const told = hasAllQueues ? warnings : warnings.filter(({ code }) => code !== "RD405");
  return readWithout(deployment, leftOut, "names of queues and exchanges, keys and settings", told);
}

/** The version in the outputs of a stack's components. Null if there are none, or if they have several versions. */
function versionIn(resources: readonly PulumiResource[]): string | null {
  const components = resources.filter(({ type }) => type === componentType);
  const [target, ...others] = new Set(components.map(({ properties }) => properties["target"]));
  const version = typeof target === "string" ? /^rabbitmq@(.+)$/.exec(target)?.[1] : undefined;
  return version === undefined || others.length > 0 ? null : version;
}

/** The place of each type in findings. A binding has no place of its own. */
const kinds: Readonly<Record<string, string>> = Object.freeze({
  [queueType]: "queues",
  [exchangeType]: "exchanges",
  [policyType]: "policies",
  [operatorPolicyType]: "policies",
});

export function placesOf(resources: readonly PulumiResource[]): ReadonlyMap<string, readonly string[]> {
  const own = resources.filter(isRabbitmqResource);
  const virtualHostOf = virtualHostNamer(own);
  return new Map(
    own.flatMap((resource): (readonly [string, readonly string[]])[] => {
      const { type, urn, properties } = resource;
      const [virtualHost, name, kind] = [virtualHostOf(resource), textOf(properties, "name"), kinds[type]];
      if (virtualHost === null || name === null || kind === undefined) return [];
      return [[urn, ["vhosts", virtualHost, kind, name]]];
    }),
  );
}

/**
 * Names the virtual host of a resource, or null if unknown. Two providers are two brokers, or two users of one broker,
 * so the provider's name goes before that of the virtual host.
 */
function virtualHostNamer(own: readonly PulumiResource[]): (resource: PulumiResource) => string | null {
  // The user who makes a virtual host is often another one.
  const providers = providerNames(own.filter(({ type }) => type !== virtualHostType));
  return (resource) => {
    const name = ownNameOf(resource);
    const { provider } = resource;
    return name === null || providers.size <= 1 ? name : `${providers.get(provider) ?? ""}: ${name}`;
  };
}

function ownNameOf({ type, properties }: PulumiResource): string | null {
  return type === virtualHostType ? textOf(properties, "name") : textOf(properties, "vhost", "/");
}

function addVirtualHost(properties: Entry, draft: DraftVirtualHost): boolean {
  const type = textOf(properties, "defaultQueueType", "");
  if (type !== null && type !== "") draft.defaultQueueType = type;
  return type !== null;
}

function addExchange(properties: Entry, draft: DraftVirtualHost): boolean {
  const settings = entryOf(properties, "settings");
  if (settings === null) return false;
  const name = textOf(properties, "name");
  const type = textOf(settings, "type");
  const given = knownArguments(writtenArguments(settings));
  if (name === null || type === null || given === null) return false;
  draft.exchanges.push({ name, type, lifetime: lifetimeOf(settings), arguments: given });
  return true;
}

function addQueue(properties: Entry, draft: DraftVirtualHost): boolean {
  const settings = entryOf(properties, "settings");
  if (settings === null) return false;
  const name = textOf(properties, "name");
  const given = knownArguments(writtenArguments(settings));
  if (name === null || given === null) return false;
  draft.queues.push({ name, type: null, lifetime: lifetimeOf(settings), arguments: given });
  return true;
}

/**
 * The provider makes queues and exchanges transient unless the program says otherwise. Source: `resource_queue.go`,
 * `resource_exchange.go` of its Terraform origin.
 */
function lifetimeOf(settings: Entry): Lifetime {
  const { durable } = settings;
  return {
    isTransient: durable !== true && !isUnreadable(durable),
    isAutoDelete: settings["autoDelete"] === true,
    isExclusive: false,
  };
}

function addBinding(properties: Entry, draft: DraftVirtualHost): boolean {
  const source = textOf(properties, "source");
  const destination = textOf(properties, "destination");
  const kind = textOf(properties, "destinationType");
  const routingKey = textOf(properties, "routingKey", "");
  const given = knownArguments(writtenArguments(properties));
  if (source === null || destination === null || routingKey === null || given === null) return false;
  if (kind !== "queue" && kind !== "exchange") return false;
  const { propertiesKey } = properties;
  const own = typeof propertiesKey === "string" && !isUnreadable(propertiesKey) ? { propertiesKey } : {};
  draft.bindings.push({ source, destination, destinationKind: kind, routingKey, arguments: given, ...own });
  return true;
}

function addPolicy(kind: "user" | "operator", properties: Entry, draft: DraftVirtualHost): boolean {
  const policy = entryOf(properties, "policy");
  if (policy === null) return false;
  const name = textOf(properties, "name");
  const pattern = textOf(policy, "pattern");
  const applyTo = textOf(policy, "applyTo");
  const given = knownArguments(policy["definition"]);
  if (name === null || pattern === null || applyTo === null || given === null) return false;
  const priority = typeof policy["priority"] === "number" ? policy["priority"] : 0;
  const definition = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, asSentInPolicy(value)]));
  draft.policies.push({ name, kind, pattern, applyTo, priority, definition });
  return true;
}

/**
 * The provider sends a text that is an integer as a number. Source: `putPolicy` in `resource_policy.go`, which asks
 * `strconv.ParseInt`.
 */
function asSentInPolicy(value: HeaderValue): HeaderValue {
  const isInteger = typeof value === "string" && /^[+-]?\d+$/.test(value) && Number.isSafeInteger(Number(value));
  return isInteger ? Number(value) : value;
}

function knownArguments(value: unknown): Arguments | null {
  const given = isUnreadable(value) ? null : argumentsOf(value);
  return given === null || Object.values(given).some(isUnreadable) ? null : given;
}

function textOf(properties: Entry, key: string, fallback?: string): string | null {
  const value = properties[key] ?? fallback;
  return typeof value === "string" && !isUnreadable(value) ? value : null;
}

function entryOf(properties: Entry, key: string): Entry | null {
  const value = properties[key];
  return isEntry(value) && !isUnreadable(value) ? value : null;
}
