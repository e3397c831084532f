import { formatDurationMs } from "../../../declare/duration.ts";
import { overlay } from "../../../contract/overlay.ts";
import { type Checked, accepted, refusedFor } from "../../../diagnostics/diagnostic.ts";
import {
  type AppliedDifference,
  type Beside,
  type DifferentSetting,
  type Drift,
  driftOn,
  loss,
  otherwise,
} from "../../drift.ts";
import type { ServicebusCompiled } from "../compile/compile.ts";
import {
  type DeclaredEntity,
  type Named,
  type Settings,
  compareSettings,
  declaredEntities,
  pathOf,
  wordsOf,
} from "../compile/differences.ts";
import { entityFields, propertiesOf, sqlOf } from "../compile/fields.ts";
import { defaultRuleName } from "../compile/names.ts";
import { type ServicebusTopology, type SubscriptionRule, subscriptionPath } from "../compile/topology.ts";
import { concernedBy, subjectsOf } from "../prove/model.ts";
import { contextOf } from "../prove/semantics/context.ts";
import type { ModelState } from "../prove/model-state.ts";
import type { AuditedNamespace, Deployment, NamedResource } from "./deployment.ts";
import { type FoundEntity, entitiesIn } from "./found.ts";
import { namespacesOf } from "./import/entity-properties.ts";

type Difference = AppliedDifference<ServicebusTopology, ModelState>;

/**
 * Compares a compiled system with the one namespace of a deployment.
 *
 * Subscriptions of others on a declared topic are no difference, and neither are queues that earlier declarations left.
 *
 * @returns a refusal if the deployment has several namespaces
 */
export function driftOf(deployment: Deployment, compiled: ServicebusCompiled): Checked<Drift<ModelState>> {
  const [namespace, ...more] = deployment.namespaces;
  if (namespace === undefined || more.length > 0)
    return refusedFor("RD315", {
      path: "",
      message: `a system lies in one namespace, and the source has ${deployment.namespaces.length}`,
      value: deployment.namespaces.map(({ name }) => name),
      help: "export the resource group of that namespace alone",
    });
  const { topology } = compiled;
  const entities = entitiesIn(namespace.resources);
  const found = new Map(entities.map((entity) => [keyOf(entity), entity]));
  const declared = declaredEntities(topology);
  const unread = declared.flatMap((entity) => found.get(keyOf(entity))?.unread ?? []);
  const names = new Set(declared.map(keyOf));
  const others = entities.filter((entity) => !names.has(keyOf(entity)));
  const all = [
    ...declared.flatMap((entity) => compared(entity, found.get(keyOf(entity)), namespace, topology)),
    ...others.flatMap((entity) => leadingIn(entity, topology)),
  ];
  // A changed forwarding can lead into any of the other queues and topics.
  const base = others.filter(({ kind }) => kind !== "subscription").reduce(withEntity, topology);
  const unreadParts = {
    unread: [...(namespace.isWhole ? [] : ["entities with unreadable names are left out"]), ...unread],
    unreadHelp: "export the resource group, which writes names and settings out",
  };
  return accepted(driftOn({ ...compiled, topology: base }, all, { subjectsOf, concernedBy }, unreadParts));
}

function keyOf(entity: Pick<DeclaredEntity, "kind" | "name" | "topic">): string {
  return `${entity.kind} ${pathOf(entity)}`;
}

/** A name as the parts of a system have it. */
function nameOf({ kind, topic, name }: Named): string {
  return kind === "subscription" ? `${topic}/${name}` : name;
}

function compared(
  entity: DeclaredEntity,
  there: FoundEntity | undefined,
  namespace: AuditedNamespace,
  topology: ServicebusTopology,
): Difference[] {
  const { kind, settings: wanted } = entity;
  const name = nameOf(entity);
  const apply = (before: ServicebusTopology) => without(before, entity);
  if (there === undefined) {
    const beside = otherwise("no message can pass through it");
    return namespace.isWhole ? [{ change: "missing", kind, name, settings: [], beside, apply }] : [];
  }
  if (entity.owner === "other") return [];
  // Settings that every deployment leaves at the same value.
  const fixed = { autoDeleteOnIdleMs: null, status: "Active" };
  const known = Object.keys(there.settings).filter((key) => !there.hidden.has(key));
  const deployed = Object.fromEntries(known.map((key) => [key, there.settings[key]]));
  const compared = Object.fromEntries(Object.entries(wanted).filter(([key]) => !there.hidden.has(key)));
  const settings = compareSettings({ ...compared, ...fixed }, { ...deployed, ...there.fixed });
  if (settings.length === 0) return [];
  const beside = besideOf(settings, there) ?? besideRules(entity, there, topology, namespace.isWhole);
  return [{ change: "different", kind, name, settings, beside, apply: (before) => withEntity(before, there) }];
}

/** Entities of others that lead messages into a declared queue. */
function leadingIn(entity: FoundEntity, topology: ServicebusTopology): Difference[] {
  const { kind, settings } = entity;
  const name = nameOf(entity);
  const targets = new Set([settings["forwardTo"], settings["forwardDeadLetteredTo"]]);
  const own = topology.queues.find((queue) => targets.has(queue.name));
  const isLeft = kind === "queue" && name.startsWith(`${topology.system}.`);
  // A stack may leave out a rule `$Default` that lets in everything.
  const isDefault = entity.rules.some((rule) => rule.name === defaultRuleName);
  const isClosed = isDefault && entity.rules.every(({ filter }) => filter.kind === "false");
  if (own === undefined || isLeft || isClosed) return [];
  const beside = otherwise(`messages of ${name} enter ${own.name}`);
  const apply = (before: ServicebusTopology) => withEntity(before, { ...entity, consumer: own.consumer });
  return [{ change: "extra", kind, name, settings: [], beside, apply }];
}

/** The effects that no model shows, because no step of a message looks at these settings. */
function besideOf(settings: readonly DifferentSetting[], { hasAction }: FoundEntity): Beside {
  const of = (wanted: string): DifferentSetting | undefined => settings.find(({ key }) => key === wanted);
  if (of("autoDeleteOnIdleMs") !== undefined)
    return loss("Service Bus deletes it with its messages when nobody uses it for that time");
  const status = of("status");
  if (status !== undefined)
    return otherwise(`its status is ${String(status.deployed)}, so it does not take or hand out`);
  const window = of("duplicateDetectionMs");
  if (window !== undefined)
    return otherwise(
      typeof window.deployed === "number"
        ? `Service Bus drops a duplicate there that comes within ${formatDurationMs(window.deployed)}`
        : "Service Bus drops no duplicates there, so they reach the handler",
    );
  return hasAction ? otherwise("a rule changes the messages that it lets in") : null;
}

/** The proof asks the declared filters about examples of their keys. Another filter may decide otherwise about others. */
function besideRules(
  { name, topic }: DeclaredEntity,
  there: FoundEntity,
  { topics, subscriptions }: ServicebusTopology,
  isWhole: boolean,
): Beside {
  const declared = subscriptions.find((each) => each.topic === topic && each.name === name);
  if (declared === undefined) return null;
  const wanted = new Set(declared.rules.map(({ filter }) => wordsOf(filter)));
  const found = new Set(there.rules.map(({ filter }) => wordsOf(filter)));
  const isOther = ({ filter }: SubscriptionRule): boolean => filter.kind !== "false" && !wanted.has(wordsOf(filter));
  const others = there.rules.filter(isOther);
  const isReplaced = others.some(({ filter }) => filter.kind === "sql") && !found.has(sqlOf({ kind: "true" }));
  if (isReplaced && [...wanted].some((words) => !found.has(words)))
    return loss("another filter takes the place of the declared one, and may refuse its messages");
  const [taking] = contextOf({ queues: [], topics, subscriptions: [declared] }).subscriptions.get(topic) ?? [];
  const isWider = ({ filter }: SubscriptionRule): boolean =>
    filter.kind === "correlation" ? taking?.takes(filter.subject) !== "yes" : !wanted.has(sqlOf({ kind: "true" }));
  // A program may leave out the rule that Azure makes, and leave it on the broker.
  const isShown = isWhole || there.rules.some((rule) => rule.name === defaultRuleName);
  const azures: SubscriptionRule = { name: defaultRuleName, filter: { kind: "true" } };
  const wider = [...others, ...(isShown ? [] : [azures].filter(isOther))].find(isWider);
  const lets = wider === azures ? "may let" : "lets";
  return wider === undefined ? null : otherwise(`its rule ${wider.name} ${lets} in messages that are not declared`);
}

function without(before: ServicebusTopology, { kind, name, topic }: DeclaredEntity): ServicebusTopology {
  const isOther = (each: { readonly name: string }): boolean => each.name !== name;
  if (kind === "queue") return { ...before, queues: before.queues.filter(isOther) };
  // Azure deletes the subscriptions of a topic with it.
  const subscriptions = before.subscriptions.filter((each) =>
    kind === "topic" ? each.topic !== name : each.topic !== topic || isOther(each),
  );
  return { ...before, subscriptions, ...(kind === "topic" ? { topics: before.topics.filter(isOther) } : {}) };
}

/** Settings that a deployment may not tell, as Azure fills them in. */
export const unsaid = {
  lockDurationMs: 60_000,
  maxDeliveryCount: 10,
  timeToLiveMs: null,
  deadLetterOnExpiration: false,
  requiresSession: false,
  forwardTo: null,
  forwardDeadLetteredTo: null,
};

/** Puts an entity into a topology, with the found settings over the declared ones. */
function withEntity(before: ServicebusTopology, found: FoundEntity): ServicebusTopology {
  const { kind, name, topic, hidden, rules, consumer = null } = found;
  const known = Object.entries(found.settings).filter(([key]) => !hidden.has(key) && !key.startsWith("rule "));
  const own = Object.fromEntries(known) as typeof unsaid & { readonly duplicateDetectionMs: number | null };
  if (kind === "queue") {
    const queue = { kind, name, role: "work", consumer, ...unsaid, duplicateDetectionMs: null } as const;
    const old = before.queues.find((each) => each.name === name);
    return { ...before, queues: overlay(before.queues, [{ ...queue, ...old, ...own }], (each) => each.name) };
  }
  if (kind === "topic") {
    const old = before.topics.find((each) => each.name === name);
    const added = { name, source: name, ...old, ...own };
    return { ...before, topics: overlay(before.topics, [added], (each) => each.name) };
  }
  const old = before.subscriptions.find((each) => each.topic === topic && each.name === name);
  const added = { kind, topic, name, consumer: consumer ?? "", ...unsaid, deadLetterOnFilterError: true };
  return {
    ...before,
    subscriptions: overlay(before.subscriptions, [{ ...added, ...old, ...own, rules }], subscriptionPath),
  };
}

/** A compiled system as the content of a namespace, after it was deployed over another one. No entity leaves it. */
export function deploymentOf({ topology }: ServicebusCompiled, over?: ServicebusCompiled): Deployment {
  const before = over?.topology;
  const byName = ({ name }: { readonly name: string }): string => name;
  const whole = {
    ...topology,
    queues: overlay(before?.queues ?? [], topology.queues, byName),
    topics: overlay(before?.topics ?? [], topology.topics, byName),
    subscriptions: overlay(before?.subscriptions ?? [], topology.subscriptions, subscriptionPath),
  };
  return { namespaces: namespacesOf(resourcesOf(whole, topology.system), true) };
}

/** The content of a namespace after a compiled system was deployed over it. */
export function deployedOver({ namespaces }: Deployment, { topology }: ServicebusCompiled): Deployment {
  const [{ name, resources } = { name: "", resources: [] }] = namespaces;
  const own = { ...topology, topics: topology.topics.filter(({ owner }) => owner !== "other") };
  const all = overlay(resources, resourcesOf(own, name), ({ kind, names }) => `${kind} ${names.join("/")}`);
  return { namespaces: namespacesOf(all, true) };
}

/** The resources of a topology, by ARM's names. */
export function resourcesOf(
  { queues, topics, subscriptions }: Pick<ServicebusTopology, "queues" | "topics" | "subscriptions">,
  namespace: string,
): readonly NamedResource[] {
  const resource = (kind: keyof typeof entityFields, names: readonly string[], entity: object): NamedResource => ({
    kind,
    namespace,
    names,
    properties: propertiesOf(entityFields[kind], entity, (name) => name ?? "") as Settings,
  });
  return [
    ...queues.map((each) => resource("queue", [each.name], each)),
    ...topics.map((each) => resource("topic", [each.name], each)),
    ...subscriptions.flatMap((each) => [
      resource("subscription", [each.topic, each.name], each),
      ...each.rules.map((rule): NamedResource => {
        return { kind: "rule", namespace, names: [each.topic, each.name, rule.name], properties: armRule(rule) };
      }),
    ]),
  ];
}

function armRule({ filter }: SubscriptionRule): Settings {
  return filter.kind === "correlation"
    ? { filterType: "CorrelationFilter", correlationFilter: { label: filter.subject } }
    : { filterType: "SqlFilter", sqlFilter: { sqlExpression: sqlOf(filter) } };
}
