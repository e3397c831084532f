import { type BrokerName, brokerOf, parseTarget } from "../brokers/index.ts";
import { hasUnknown, unknownText } from "../foreign/pulumi-resource.ts";
import { type Checked, type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";
import { attributionAmong } from "./attribution.ts";
import { isComponentType, isMadeByComponent } from "./component.ts";
import type { StackResource } from "./stack.ts";

export interface StackFinding {
  /** The target or the broker with the rules that judged it. */
  readonly rulesOf: string;
  readonly diagnostic: Diagnostic;
  /** Empty where its resources are not known. */
  readonly about: readonly StackResource[];
}

/** The engine asks one rule after the other about the same stack. The options may name other targets for each rule. */
const audited = new WeakMap<readonly StackResource[], Map<string, readonly StackFinding[]>>();

/**
 * Puts the resources of a stack together and audits their topology at one broker.
 *
 * The audit says nothing about resources that are connected with an unknown value. Other resources name a dead-letter
 * queue, so the value could make a finding wrong, and the update knows it. A known resource that cannot be read is a
 * finding. The audit keeps the texts of such a resource, and treats its other values as unknown. It still judges the
 * other resources.
 *
 * @param resources the same list for each rule, so that the stack is audited once
 * @param targets the targets that the options name
 */
export function auditStack(
  broker: BrokerName,
  resources: readonly StackResource[],
  targets: readonly string[],
): readonly StackFinding[] {
  const byTargets = audited.get(resources) ?? new Map<string, readonly StackFinding[]>();
  audited.set(resources, byTargets);
  const key = JSON.stringify([broker, targets]);
  const findings = byTargets.get(key) ?? auditBroker(broker, resources, targets);
  byTargets.set(key, findings);
  return findings;
}

/** @param left for each unreadable resource, how much of it to keep: an index of `kept` */
function auditBroker(
  broker: BrokerName,
  resources: readonly StackResource[],
  targets: readonly string[],
  left: ReadonlyMap<string, number> = new Map(),
): readonly StackFinding[] {
  const { auditor } = brokerOf({ broker });
  const read = certainOf(broker, resources);
  if (auditor === undefined || !read.some(auditor.resources.isOwn)) return [];
  const target = parseTarget(targetText(broker, resources, targets) ?? auditor.newestTarget);
  if (!target.ok) return target.diagnostics.map((each) => ({ rulesOf: broker, diagnostic: each, about: [] }));
  const rulesOf = auditor.rulesOf(target.value);
  const attribute = attributionAmong(read, auditor.resources.placesOf(read));
  const found = (each: Diagnostic, about?: readonly StackResource[]): StackFinding => ({
    rulesOf,
    diagnostic: each,
    about: about ?? attribute(each),
  });
  const deployment = auditor.resources.read(read);
  if (!deployment.ok) return deployment.diagnostics.map((each) => found(each));
  if (deployment.warnings.some(isLeftOut)) {
    const alone = read.filter((each) => isUnreadable(auditor.resources.read([each])));
    // Each resource can be read alone, but all together cannot. So the finding is about all of them.
    if (alone.length === 0) return deployment.warnings.map((each) => found(each, []));
    const less = new Map([...left, ...alone.map(({ urn }) => [urn, (left.get(urn) ?? -1) + 1] as const)]);
    const notices = alone.filter(({ urn }) => !left.has(urn)).map((each) => found(notRead(each), [each]));
    if ([...less.values()].some((index) => index >= kept.length)) return notices;
    const others = resources.map((each) => withKept(each, less.get(each.urn)));
    return [...notices, ...auditBroker(broker, others, targets, less)];
  }
  const diagnostics = [...deployment.warnings, ...auditor.audit(deployment.value, target.value, null)];
  return diagnostics.map((each) => found(each)).filter(isWorthSaying);
}

/** The judged resources of a stack: none as long as the target of a component is unknown. */
function certainOf(broker: BrokerName, resources: readonly StackResource[]): readonly StackResource[] {
  const { auditor } = brokerOf({ broker });
  const isVersionOpen = resources.some(
    ({ type, properties }) => isComponentType(type) && hasUnknown(properties["target"]),
  );
  if (auditor === undefined || isVersionOpen) return [];
  // The compiler has proved the resources of a component. With a part of them alone, every way to another stack would
  // seem to lead nowhere.
  const isDivided = resources.some(({ type, properties }) => isComponentType(type) && properties["part"] !== undefined);
  const isJudged = ({ urn }: StackResource): boolean => !isDivided || !isMadeByComponent(urn);
  const all = resources.filter((each) => auditor.resources.isRead(each) && isJudged(each));
  const byUrn = new Map(all.map((each) => [each.urn, each]));
  return auditor.resources.certain(all).flatMap(({ urn, properties }) => {
    const own = byUrn.get(urn);
    return own === undefined ? [] : [{ ...own, properties }];
  });
}

/** The options go before the target of a component in the stack. */
function targetText(
  broker: BrokerName,
  resources: readonly StackResource[],
  targets: readonly string[],
): string | undefined {
  const own = resources.flatMap(({ type, properties }) => (isComponentType(type) ? [properties["target"]] : []));
  const isOfBroker = (each: unknown): each is string => typeof each === "string" && each.startsWith(`${broker}@`);
  return [...targets, ...own].find(isOfBroker);
}

/**
 * The texts to keep of an unreadable resource: first all of them, then, if one of them is unreadable, its names alone.
 */
const kept: readonly ((key: string) => boolean)[] = [
  () => true,
  (key) => /name$|^(vhost|region|arn|url|id)$/i.test(key),
];

/** Every other property becomes unknown. */
function withKept(resource: StackResource, index: number | undefined): StackResource {
  if (index === undefined) return resource;
  const isKept = kept[index] ?? (() => false);
  const properties = Object.entries(resource.properties).map(([key, value]) => {
    const isPlain = value === null || (typeof value === "string" && isKept(key));
    return [key, isPlain ? value : unknownText];
  });
  return { ...resource, properties: Object.fromEntries(properties) as StackResource["properties"] };
}

function isUnreadable(read: Checked<unknown>): boolean {
  return !read.ok || read.warnings.some(isLeftOut);
}

function isLeftOut({ code }: Diagnostic): boolean {
  return code === "RD409";
}

function notRead({ name, type }: StackResource): Diagnostic {
  return diagnostic("RD409", {
    path: "",
    message: `${name} is a ${type} in an unknown form, so the rules skipped it and everything connected with it`,
    help: "use a known version of the provider, or exclude resources that need no judgement",
  });
}

/** An audit does not know the consumers, and warns of possible ones. The proof of a component covers the real ones. */
function isWorthSaying({ diagnostic: { severity }, about }: StackFinding): boolean {
  return severity === "error" || about.length === 0 || about.some(({ isProved }) => !isProved);
}
