import * as policy from "@pulumi/policy";
import type { PolicyResource, ResourceValidationPolicy, StackValidationPolicy } from "@pulumi/policy";

import { type PolicyOptions, redeliverPolicies } from "../../src/policy/index.ts";
import type { ProgramRun, RegisteredResource } from "./pulumi.ts";

/** Exported since 1.21, and left out of the types. */
const { unknownCheckingProxy } = policy as unknown as { unknownCheckingProxy: (properties: object) => unknown };

const options = {
  protect: false,
  ignoreChanges: [],
  aliases: [],
  customTimeouts: { createSeconds: 0, updateSeconds: 0, deleteSeconds: 0 },
  additionalSecretOutputs: [],
};

/** A violation, and its resource. */
export interface FoundViolation {
  readonly rule: string;
  readonly message: string;
  readonly urn: string;
}

/** The policies' findings in a run, without a process of their own, but with Pulumi's own guard on unknown values. */
export async function foundInProcess(run: ProgramRun, given: PolicyOptions = {}): Promise<readonly FoundViolation[]> {
  const found: FoundViolation[] = [];
  const common = { stackTags: new Map<string, string>(), getConfig: <T>(): T => ({}) as T };
  const notApplicable = (): never => {
    throw new Error("no rule of ours says so");
  };
  const resources = run.resources.map((resource): PolicyResource => ({
    ...resource,
    props: unknownCheckingProxy(
      (resource.custom ? run.resourceOutputs : run.registeredOutputs).get(resource.urn) ?? {},
    ) as Record<string, unknown>,
    opts: { ...options, protect: resource.protect },
    provider: providerOf(resource) as never,
    parent: undefined as never,
    dependencies: [],
    propertyDependencies: {},
    isType: () => false,
    asType: () => undefined,
  }));
  const byUrn = new Map(resources.map((resource) => [resource.urn, resource]));
  for (const { urn, parent, propertyDependencies } of run.resources) {
    const [child, its] = [byUrn.get(urn), byUrn.get(parent)];
    if (child !== undefined && its !== undefined) child.parent = its;
    for (const [property, urns] of Object.entries(propertyDependencies)) {
      if (child !== undefined) child.propertyDependencies[property] = urns.flatMap((each) => byUrn.get(each) ?? []);
    }
  }
  const policies = redeliverPolicies(given) as (ResourceValidationPolicy & StackValidationPolicy)[];
  const report = (rule: string, own: string) => (message: string, urn?: string) =>
    void found.push({ rule, message, urn: urn ?? own });
  // One by one with the inputs, and then together with the outputs, as the engine asks.
  for (const { type, urn, name, inputs, protect } of run.resources) {
    for (const each of policies) {
      if (typeof each.validateResource !== "function") continue;
      const props = unknownCheckingProxy({ ...inputs }) as Record<string, unknown>;
      const opts = { ...options, protect };
      const asked = { type, urn, name, props, opts, isType: () => false, asType: () => undefined };
      await each.validateResource({ ...common, ...asked, notApplicable }, report(each.name, urn));
    }
  }
  for (const each of policies) {
    if (typeof each.validateStack !== "function") continue;
    await each.validateStack({ ...common, resources, notApplicable }, report(each.name, ""));
  }
  return found;
}

/** As the host reports it; undefined for the default provider of these runs. */
function providerOf({ provider }: RegisteredResource): PolicyResource["provider"] | undefined {
  if (provider === "") return undefined;
  const urn = provider.split("::").slice(0, -1).join("::");
  return { type: urn.split("::").at(-2) ?? "", urn, name: urn.split("::").at(-1) ?? "", props: {} };
}
