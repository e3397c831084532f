import type { StayingResource } from "../../brokers/broker.ts";
import type { BrokerName } from "../../brokers/index.ts";
import { brokers } from "../../brokers/index.ts";
import { hasUnknown, nameIn } from "../../brokers/pulumi-resource.ts";
import { isComponentType } from "../component.ts";
import { takesPart } from "../judge-stack.ts";
import { refused } from "../../diagnostics/render.ts";
import { judgeChange } from "../judge-changes.ts";
import type { PolicyOptions } from "../options.ts";
import { selectRules } from "../options.ts";
import { pageFileOf } from "../rule.ts";
import { redeliverPolicies } from "../policies.ts";
import type { JudgedPreview, Preview, PreviewedResource, PreviewViolation, SourcePosition } from "./preview.ts";

type Policy = ReturnType<typeof redeliverPolicies>[number];
type ResourcePolicy = Extract<Policy, { validateResource?: unknown }>;
type StackPolicy = Extract<Policy, { validateStack: unknown }>;
type ResourceArgs = Parameters<Extract<ResourcePolicy["validateResource"], (...words: never[]) => unknown>>[0];
type StackArgs = Parameters<Extract<StackPolicy["validateStack"], (...words: never[]) => unknown>>[0];
type StackResource = StackArgs["resources"][number];

/**
 * Asks the policies of the pack about a preview, as Pulumi's policy host asks them about a program: about each resource by what the
 * program asks for, then about all of them by what there is going to be.
 *
 * @param stackTags the stack's own tags, which a preview does not tell
 * @throws RefusedError with the rendered diagnostics (RD901 to RD903) where the options are wrong
 */
export async function judgePreview(
  preview: Preview,
  options: PolicyOptions,
  stackTags: ReadonlyMap<string, string>,
): Promise<JudgedPreview> {
  // Policies keep what they have read of a stack for a turn of the event loop, so that another preview is another turn.
  await new Promise((done) => setImmediate(done));
  const policies = redeliverPolicies(options).filter(({ enforcementLevel }) => enforcementLevel !== "disabled");
  const byUrn = new Map(preview.resources.map((resource) => [resource.urn, resource]));
  const violations: PreviewViolation[] = [];
  const report = (policy: Policy, message: string, urn: string): void => {
    const resource = byUrn.get(urn);
    violations.push({
      rule: policy.name,
      level: policy.enforcementLevel === "mandatory" ? "mandatory" : "advisory",
      severity: policy.severity ?? "medium",
      description: policy.description,
      message: policy.enforcementLevel === "remediate" ? `${message}\nthe policy pack mends it in the update` : message,
      resource: resource === undefined ? null : { name: resource.name, type: resource.type, urn },
      source: resource === undefined ? null : sourceOf(resource, byUrn),
      url: policy.url ?? "",
    });
  };
  const common = { stackTags, getConfig: <Config>(): Config => ({}) as Config, notApplicable };
  const stack: StackArgs = { ...common, resources: stackResources(preview.resources) };
  for (const policy of policies) {
    if ("validateStack" in policy && typeof policy.validateStack === "function") {
      void policy.validateStack(stack, (message, urn) => report(policy, message, urn ?? ""));
    }
    if (!("validateResource" in policy) || typeof policy.validateResource !== "function") continue;
    for (const resource of preview.resources.filter(({ isExternal }) => !isExternal)) {
      const asked: ResourceArgs = { ...common, ...shownOf(resource), props: { ...resource.inputs } };
      void policy.validateResource(asked, (message) => report(policy, message, resource.urn));
    }
  }
  violations.push(...judgeChanges(preview, options));
  const own = preview.resources.filter((resource) => isComponentType(resource.type) || isOfBroker(resource));
  const unknown = own.filter(({ inputs, outputs }) => hasUnknown(inputs) || hasUnknown(outputs));
  return { judged: own.length, unknown: unknown.map(({ name }) => name), violations };
}

/** What no policy pack can judge, since it is not told what changes. */
function judgeChanges({ changes, resources }: Preview, options: PolicyOptions): readonly PreviewViolation[] {
  const selected = selectRules(options);
  if (!selected.ok) throw refused(selected.diagnostics);
  const staying: readonly StayingResource[] = [
    ...changes.flatMap(({ isRetained, type, properties }) => (isRetained ? [{ type, properties, isLeft: true }] : [])),
    ...resources.map(({ type, inputs }) => ({ type, properties: inputs, isLeft: false })),
  ];
  const today = new Date().toISOString().slice(0, 10);
  return selected.value.flatMap((each) => {
    const { rule, level } = each;
    if (rule.kind !== "change" || level === "disabled") return [];
    return changes.flatMap((change) =>
      judgeChange(rule, each, { change, staying }, today).map((message): PreviewViolation => ({
        rule: rule.name,
        level: level === "mandatory" ? "mandatory" : "advisory",
        severity: rule.severity,
        description: rule.description,
        message,
        resource: { name: change.name, type: change.type, urn: change.urn },
        source: change.source,
        url: pageFileOf(rule),
      })),
    );
  });
}

/** The nearest place in the program: what a package made has none of its own, so that of its component counts. */
function sourceOf(resource: PreviewedResource, byUrn: ReadonlyMap<string, PreviewedResource>): SourcePosition | null {
  if (resource.source !== null) return resource.source;
  const parent = byUrn.get(resource.parent);
  return parent === undefined ? null : sourceOf(parent, byUrn);
}

function isOfBroker(resource: PreviewedResource): boolean {
  return (Object.keys(brokers) as BrokerName[]).some((broker) => takesPart(broker, resource));
}

/** What a policy is shown of every resource, whatever it is asked. */
function shownOf({ type, urn, name, protect, parent }: PreviewedResource): Omit<StackResource & ResourceArgs, "props"> {
  return {
    type,
    urn,
    name,
    opts: {
      protect,
      ...(parent === "" ? {} : { parent }),
      ignoreChanges: [],
      aliases: [],
      customTimeouts: { createSeconds: 0, updateSeconds: 0, deleteSeconds: 0 },
      additionalSecretOutputs: [],
    },
    isType: () => false,
    asType: () => undefined,
  } as never;
}

/** The resources as they refer to each other: a policy gets its parent, its provider and its dependencies as they are. */
function stackResources(resources: readonly PreviewedResource[]): StackResource[] {
  const shown = resources.map((resource): StackResource => ({
    ...shownOf(resource),
    props: { ...resource.outputs },
    ...providerOf(resource),
    dependencies: [],
    propertyDependencies: {},
  }));
  const byUrn = new Map(shown.map((each) => [each.urn, each]));
  const found = (urns: readonly string[]): StackResource[] => urns.flatMap((urn) => byUrn.get(urn) ?? []);
  for (const [index, { parent, dependencies, propertyDependencies }] of resources.entries()) {
    const own = shown[index];
    if (own === undefined) continue;
    const [its] = found([parent]);
    if (its !== undefined) own.parent = its;
    own.dependencies = found(dependencies);
    own.propertyDependencies = Object.fromEntries(
      Object.entries(propertyDependencies).map(([key, urns]) => [key, found(urns)]),
    );
  }
  return shown;
}

/** A reference is a URN and an id, with `::` between them. A default provider is in no step. */
function providerOf({ provider }: PreviewedResource): Pick<StackResource, "provider"> {
  if (provider === "") return {};
  const urn = provider.split("::").slice(0, -1).join("::");
  return { provider: { type: urn.split("::").at(-2) ?? "", urn, name: nameIn(urn), props: {} } };
}

function notApplicable(): never {
  throw new Error("no rule of ours says so");
}
