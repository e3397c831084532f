import type { BrokerName } from "../brokers/index.ts";
import { brokerOf, parseTarget } from "../brokers/index.ts";
import { hasUnknown, unknownText } from "../brokers/pulumi-resource.ts";
import type { PulumiResource } from "../brokers/pulumi-resource.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { attributionAmong } from "./attribution.ts";
import { isComponentType } from "./component.ts";

/** A resource of a stack, as the rules on topologies see it. */
export interface StackResource extends PulumiResource {
  /** The name that the program gave it. */
  readonly name: string;
  /** Whether a component of Redeliver made it: then its consumers are known, and it was proved with them. */
  readonly isProved: boolean;
}

/** Something that an audit found, and the resources that it is about; none where they cannot be told. */
export interface StackFinding {
  /** By whose rules it was judged, such as `rabbitmq@4.3`. */
  readonly rulesOf: string;
  readonly diagnostic: Diagnostic;
  readonly about: readonly StackResource[];
}

/** Rules are asked one after the other about the same stack; what the brokers are may be told to each of them by itself. */
const judged = new WeakMap<readonly StackResource[], Map<string, readonly StackFinding[]>>();

/** Whether a resource has a part in what is said of a broker: most of a large stack has none, and is not looked at. */
export function takesPart(broker: BrokerName, resource: Pick<PulumiResource, "type">): boolean {
  return isComponentType(resource.type) || brokerOf({ broker }).auditor?.resources.isRead(resource) === true;
}

/**
 * Puts the resources of a stack together and audits what they make at one broker.
 *
 * Where a preview does not know a value, nothing is said of what is connected with it: a dead-letter queue is known by who names it, so
 * the value can make a finding wrong, and the update knows it. A resource that cannot be read though all of it is known is a finding, and
 * is otherwise treated as one of which nothing is known but its texts: the rest of the stack is judged.
 *
 * @param resources those that take part
 * @param targets what the brokers of the stack are, as far as it was said
 */
export function judgeStack(
  broker: BrokerName,
  resources: readonly StackResource[],
  targets: readonly string[],
): readonly StackFinding[] {
  const byTargets = judged.get(resources) ?? new Map<string, readonly StackFinding[]>();
  judged.set(resources, byTargets);
  const key = JSON.stringify([broker, targets]);
  const findings = byTargets.get(key) ?? judgeBroker(broker, resources, targets);
  byTargets.set(key, findings);
  return findings;
}

/** @param left of which resources that could not be read how little is left: an index of `kept` */
function judgeBroker(
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
    // What can be read alone does not fit together with the others: then all of them are meant.
    if (alone.length === 0) return deployment.warnings.map((each) => found(each, []));
    const less = new Map([...left, ...alone.map(({ urn }) => [urn, (left.get(urn) ?? -1) + 1] as const)]);
    const notices = alone.filter(({ urn }) => !left.has(urn)).map((each) => found(notRead(each), [each]));
    if ([...less.values()].some((index) => index >= kept.length)) return notices;
    const others = resources.map((each) => withKept(each, less.get(each.urn)));
    return [...notices, ...judgeBroker(broker, others, targets, less)];
  }
  const diagnostics = [...deployment.warnings, ...auditor.audit(deployment.value, target.value, null)];
  return diagnostics.map((each) => found(each)).filter(isWorthSaying);
}

/** What is judged of a stack; nothing as long as it is not known which version of the broker a component of it is for. */
function certainOf(broker: BrokerName, resources: readonly StackResource[]): readonly StackResource[] {
  const { auditor } = brokerOf({ broker });
  const isVersionOpen = resources.some(
    ({ type, properties }) => isComponentType(type) && hasUnknown(properties["target"]),
  );
  if (auditor === undefined || isVersionOpen) return [];
  const all = resources.filter(auditor.resources.isRead);
  const byUrn = new Map(all.map((each) => [each.urn, each]));
  return auditor.resources.certain(all).flatMap(({ urn, properties }) => {
    const own = byUrn.get(urn);
    return own === undefined ? [] : [{ ...own, properties }];
  });
}

/** What was said goes before what a component of the stack is for; undefined where nothing tells it. */
function targetText(
  broker: BrokerName,
  resources: readonly StackResource[],
  targets: readonly string[],
): string | undefined {
  const own = resources.flatMap(({ type, properties }) => (isComponentType(type) ? [properties["target"]] : []));
  const isOfBroker = (each: unknown): each is string => typeof each === "string" && each.startsWith(`${broker}@`);
  return [...targets, ...own].find(isOfBroker);
}

/** What is taken from a resource that cannot be read: its texts, and if one of them is what cannot be read, what names it and no more. */
const kept: readonly ((key: string) => boolean)[] = [
  () => true,
  (key) => /name$|^(vhost|region|arn|url|id)$/i.test(key),
];

/** Whatever else it has could be anything. */
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
    message: `${name} is a ${type} of a form that is not known here, so nothing was judged that it may be connected with`,
    help: "use a version of the provider that is known here, or exclude what does not have to be judged",
  });
}

/** An audit knows nothing of consumers, and warns of what they may do. Where they are known, it was proved what they do. */
function isWorthSaying({ diagnostic: { severity }, about }: StackFinding): boolean {
  return severity === "error" || about.length === 0 || about.some(({ isProved }) => !isProved);
}
