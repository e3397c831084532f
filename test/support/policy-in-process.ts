import { setImmediate } from "node:timers/promises";

import * as policy from "@pulumi/policy";
import type { PolicyResource, ResourceValidationPolicy, StackValidationPolicy } from "@pulumi/policy";

import type { PolicyOptions } from "../../src/policy/index.ts";
import { redeliverPolicies } from "../../src/policy/index.ts";
import type { ProgramRun } from "./pulumi.ts";

/** Exported since 1.21, and left out of the types. */
const { unknownCheckingProxy } = policy as unknown as { unknownCheckingProxy: (properties: object) => unknown };

const options = {
  protect: false,
  ignoreChanges: [],
  aliases: [],
  customTimeouts: { createSeconds: 0, updateSeconds: 0, deleteSeconds: 0 },
  additionalSecretOutputs: [],
};

/** A violation, and the resource that it is about. */
export interface FoundViolation {
  readonly rule: string;
  readonly message: string;
  readonly urn: string;
}

/** What the policies find in a run without a process of their own, with Pulumi's own cover over what is not known. */
export async function foundInProcess(run: ProgramRun, given: PolicyOptions = {}): Promise<readonly FoundViolation[]> {
  // Each request to the host has a turn of the event loop to itself.
  await setImmediate();
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
    provider: undefined as never,
    parent: undefined as never,
    dependencies: [],
    propertyDependencies: {},
    isType: () => false,
    asType: () => undefined,
  }));
  const byUrn = new Map(resources.map((resource) => [resource.urn, resource]));
  for (const { urn, parent } of run.resources) {
    const [child, its] = [byUrn.get(urn), byUrn.get(parent)];
    if (child !== undefined && its !== undefined) child.parent = its;
  }
  for (const each of redeliverPolicies(given) as (ResourceValidationPolicy & StackValidationPolicy)[]) {
    const report = (own: string) => (message: string, urn?: string) =>
      void found.push({ rule: each.name, message, urn: urn ?? own });
    if (typeof each.validateStack === "function") {
      await each.validateStack({ ...common, resources, notApplicable }, report(""));
    }
    if (typeof each.validateResource !== "function") continue;
    for (const { type, urn, name, inputs, protect } of run.resources) {
      const props = unknownCheckingProxy({ ...inputs }) as Record<string, unknown>;
      const opts = { ...options, protect };
      const asked = { type, urn, name, props, opts, isType: () => false, asType: () => undefined };
      await each.validateResource({ ...common, ...asked, notApplicable }, report(urn));
    }
  }
  return found;
}
