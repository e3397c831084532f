import type { PolicyResource, ResourceValidationArgs } from "@pulumi/policy";

import type { Entry } from "../foreign/entries.ts";
import { unknownText } from "../foreign/pulumi-resource.ts";
import { isComponentType } from "./component.ts";
import { plannedProperties } from "./planned-properties.ts";
import { takesPart } from "./resource-types.ts";
import type { AskedResource, TopologyRule } from "./rule.ts";
import type { StackResource } from "./stack.ts";

export type StackReader = ReturnType<typeof stackReader>;

/**
 * Reads a stack once for all rules.
 *
 * The host makes all resources anew for each rule, and asks every rule once about one stack. So the reader keeps a
 * stack for the other rules. It forgets it when a rule asks again, when the URNs differ, or when Pulumi shows a single
 * resource.
 * Source: `makeAnalyzeStackRpcFun` in @pulumi/policy 1.21.
 *
 * In a preview and in an update, the engine shows each resource by its inputs before it shows all of them by their
 * outputs.
 * Source: `generateSteps` and `AnalyzeResources` in `pkg/resource/deploy/step_generator.go` of Pulumi.
 */
export function stackReader() {
  const inputs = new Map<string, object>();
  /** By type: every rule is shown each of thousands of resources. */
  const wanted = new Map<string, boolean>();
  let current: {
    readonly shown: readonly PolicyResource[];
    readonly asked: Set<TopologyRule>;
    readonly read: readonly StackResource[];
  } | null = null;
  return {
    /** Remembers the inputs: the stack callback sees only outputs. */
    keep: ({ type, urn, props }: Pick<ResourceValidationArgs, "type" | "urn" | "props">): void => {
      current = null;
      const isWanted = wanted.get(type) ?? takesPart(type);
      wanted.set(type, isWanted);
      if (isWanted) inputs.set(urn, props);
    },
    /** Reads the resources that take part in an audit. */
    read: (asking: TopologyRule, shown: readonly PolicyResource[]): readonly StackResource[] => {
      if (current === null || current.asked.has(asking) || !isSameStack(current.shown, shown)) {
        const read = shown
          .filter(({ type }) => takesPart(type))
          .map((each) => stackResource(each, inputs.get(each.urn)));
        current = { shown, asked: new Set(), read };
      }
      current.asked.add(asking);
      return current.read;
    },
  };
}

export function askedResource({ type, urn, name, props, opts }: ResourceValidationArgs): AskedResource {
  return { type, urn, name, properties: plainProperties(props), isProtected: opts.protect };
}

function isSameStack(one: readonly PolicyResource[], other: readonly PolicyResource[]): boolean {
  return one.length === other.length && one.every(({ urn }, index) => urn === other[index]?.urn);
}

/** @param inputs undefined where the resource is only looked up, or where every rule on single resources is disabled */
function stackResource(resource: PolicyResource, inputs: object | undefined): StackResource {
  const { type, urn, name, provider, props, parent, propertyDependencies } = resource;
  const urns = Object.entries(propertyDependencies).map(([property, all]) => [property, all.map((each) => each.urn)]);
  const outputs = plainProperties(props);
  return {
    type,
    urn,
    name,
    // As a state writes it; the id of the provider does not matter.
    provider: provider === undefined ? null : `${provider.urn}::id`,
    properties: inputs === undefined ? outputs : plannedProperties(type, outputs, plainProperties(inputs)),
    propertyDependencies: Object.fromEntries(urns) as Record<string, string[]>,
    isProved: parent !== undefined && isComponentType(parent.type),
  };
}

/**
 * A resource's properties as plain data.
 *
 * Pulumi hides them behind a proxy that throws when a rule reads an unknown value, which would end the whole rule.
 * Here such a value becomes the text that stands for it in a stack's state, so that rules can judge the others.
 */
function plainProperties(properties: object): Entry {
  return plainCopy(properties) as Entry;
}

function plainCopy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Array.from({ length: value.length }, (_, index) => readAt(value, index));
  return Object.fromEntries(Object.keys(value).map((key) => [key, readAt(value, key)]));
}

/** Nothing but an unknown value throws when it is read. Source: `unknownCheckingProxy` of @pulumi/policy 1.21. */
function readAt(holder: object, key: string | number): unknown {
  let value: unknown;
  try {
    value = (holder as Record<string | number, unknown>)[key];
  } catch {
    return unknownText;
  }
  return plainCopy(value);
}
