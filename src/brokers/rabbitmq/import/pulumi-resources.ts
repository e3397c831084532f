import type { Checked } from "../../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { Entry } from "../../entries.ts";
import { isEntry } from "../../entries.ts";
import type { PulumiResource } from "../../pulumi-resource.ts";
import { isUnreadable, nameIn, providerNames } from "../../pulumi-resource.ts";
import type { Deployment } from "../deployment.ts";
import type { Arguments, HeaderValue } from "../semantics.ts";
import { assembleDeployment } from "./assemble.ts";
import type { Drafts, DraftVirtualHost } from "./draft.ts";
import { draftOf, nameSome } from "./draft.ts";
import { argumentsOf } from "./arguments.ts";
import {
  bindingType,
  componentType,
  exchangeType,
  operatorPolicyType,
  policyType,
  queueType,
  virtualHostType,
} from "./resource-types.ts";

/** Adds a resource to its virtual host; false where a value of it cannot be read. */
type AddResource = (properties: Entry, draft: DraftVirtualHost) => boolean;

/** Resource types, each with how it becomes a part of a virtual host. */
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
 * What resources of @pulumi/rabbitmq make on the broker. Which version that is only a component of Redeliver's tells.
 *
 * A resource with a secret or unknown value in what decides where messages go is left out, with a warning that names it: the value
 * could only be guessed, and a secret never appears anywhere.
 *
 * @param resources others than RabbitMQ's are passed over
 */
export function deploymentOfResources(resources: readonly PulumiResource[]): Checked<Deployment> {
  const drafts: Drafts = new Map();
  const leftOut: string[] = [];
  const own = resources.filter(isRabbitmqResource);
  const virtualHostOf = virtualHostNamer(own);
  for (const resource of own) {
    const name = virtualHostOf(resource);
    const isAdded = name !== null && adders[resource.type]?.(resource.properties, draftOf(drafts, name)) === true;
    if (!isAdded) leftOut.push(nameIn(resource.urn));
  }
  const { deployment, warnings } = assembleDeployment(versionIn(resources), drafts);
  if (leftOut.length === 0) return { ok: true, value: deployment, warnings };
  const warning = diagnostic("RD409", {
    path: "",
    message: `left out, since what decides where messages go is secret or not known yet: ${nameSome(leftOut)}`,
    notes: ["names of queues and exchanges, keys and settings are no secrets, and come from one by accident"],
    help: "take the value out of the secret that it comes from, and run pulumi up",
  });
  return { ok: true, value: deployment, warnings: [warning, ...warnings] };
}

/** What the components of a stack were compiled for, by their outputs; null where there is none, or they are for several versions. */
function versionIn(resources: readonly PulumiResource[]): string | null {
  const components = resources.filter(({ type }) => type === componentType);
  const [target, ...others] = new Set(components.map(({ properties }) => properties["target"]));
  const version = typeof target === "string" ? /^rabbitmq@(.+)$/.exec(target)?.[1] : undefined;
  return version === undefined || others.length > 0 ? null : version;
}

/** Where findings speak of what a resource makes; a binding has no place of its own. */
const kinds: Readonly<Record<string, string>> = Object.freeze({
  [queueType]: "queues",
  [exchangeType]: "exchanges",
  [policyType]: "policies",
  [operatorPolicyType]: "policies",
});

/** Where findings say that each of the resources is. */
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
 * What the virtual host of a resource is called; null where that is not told. Two providers are two brokers, or two users of one: what has
 * the same name there is not the same.
 */
function virtualHostNamer(own: readonly PulumiResource[]): (resource: PulumiResource) => string | null {
  const providers = providerNames(own);
  return ({ type, provider, properties }) => {
    const name = type === virtualHostType ? textOf(properties, "name") : textOf(properties, "vhost", "/");
    return name === null || providers.size === 1 ? name : `${providers.get(provider) ?? ""}: ${name}`;
  };
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
  const given = givenArguments(settings);
  if (name === null || type === null || given === null) return false;
  draft.exchanges.push({ name, type, arguments: given });
  return true;
}

function addQueue(properties: Entry, draft: DraftVirtualHost): boolean {
  const settings = entryOf(properties, "settings");
  if (settings === null) return false;
  const name = textOf(properties, "name");
  const given = givenArguments(settings);
  if (name === null || given === null) return false;
  // The provider makes a queue transient unless it is told otherwise. Source: `resource_queue.go` of its Terraform origin.
  const takesDefaultType = settings["durable"] === true && settings["autoDelete"] !== true;
  draft.queues.push({ name, type: null, takesDefaultType, arguments: given });
  return true;
}

function addBinding(properties: Entry, draft: DraftVirtualHost): boolean {
  const source = textOf(properties, "source");
  const destination = textOf(properties, "destination");
  const kind = textOf(properties, "destinationType");
  const routingKey = textOf(properties, "routingKey", "");
  const given = givenArguments(properties);
  if (source === null || destination === null || routingKey === null || given === null) return false;
  if (kind !== "queue" && kind !== "exchange") return false;
  draft.bindings.push({ source, destination, destinationKind: kind, routingKey, arguments: given });
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

/** The provider turns a text that is an integer into one. Source: `putPolicy` in `resource_policy.go`, which asks `strconv.ParseInt`. */
function asSentInPolicy(value: HeaderValue): HeaderValue {
  const isInteger = typeof value === "string" && /^[+-]?\d+$/.test(value) && Number.isSafeInteger(Number(value));
  return isInteger ? Number(value) : value;
}

/** `arguments` are sent as texts, every one; `argumentsJson` is sent as it stands. Null where they cannot be read. */
function givenArguments(settings: Entry): Arguments | null {
  const { argumentsJson } = settings;
  if (argumentsJson === undefined || argumentsJson === null || argumentsJson === "") {
    return knownArguments(settings["arguments"]);
  }
  if (typeof argumentsJson !== "string") return null;
  try {
    return knownArguments(JSON.parse(argumentsJson));
  } catch {
    return null;
  }
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
