import type { PolicyResource, ResourceValidationArgs } from "@pulumi/policy";

import type { BrokerName } from "../brokers/index.ts";
import { brokers } from "../brokers/index.ts";
import { isComponentType } from "./component.ts";
import type { StackResource } from "./judge-stack.ts";
import { takesPart } from "./judge-stack.ts";
import { plainProperties } from "./plain-properties.ts";
import { plannedProperties } from "./planned-properties.ts";
import type { Rule } from "./rule.ts";

/** Reads the resources that policies are shown. */
export interface StackReader {
  /** Keeps what the program asks for until the whole stack is shown, where that is told no more. */
  readonly keep: (resource: Pick<ResourceValidationArgs, "type" | "urn" | "props">) => void;
  /** The resources that take part in what is said of a broker, as plain data. */
  readonly read: (asking: Rule, broker: BrokerName, resources: readonly PolicyResource[]) => readonly StackResource[];
}

/**
 * Reads a stack once for all rules.
 *
 * The host makes all resources anew for each rule, and asks every rule once about one request, all of them in one turn of the event loop.
 * So what was read for the first of them is kept for the others until one asks again, or the turn is over.
 * Source: `makeAnalyzeStackRpcFun` in @pulumi/policy 1.21.
 *
 * The engine shows each resource by its inputs before it shows all of them by their outputs, in a preview as in an update, and to the same
 * process. Source: `generateSteps` and `AnalyzeResources` in `pkg/resource/deploy/step_generator.go` of Pulumi.
 */
export function stackReader(): StackReader {
  const inputs = new Map<string, object>();
  /** By type: every rule is shown each of thousands of resources. */
  const wanted = new Map<string, boolean>();
  let current: {
    readonly resources: readonly PolicyResource[];
    readonly asked: Set<string>;
    readonly byBroker: Map<BrokerName, readonly StackResource[]>;
  } | null = null;
  return {
    keep: ({ type, urn, props }) => {
      const isWanted = wanted.get(type) ?? isRead(type);
      wanted.set(type, isWanted);
      if (isWanted) inputs.set(urn, props);
    },
    read: (asking, broker, resources) => {
      const question = `${asking.name} ${broker}`;
      if (current === null) setImmediate(() => (current = null));
      if (current === null || current.asked.has(question) || !isSameStack(current.resources, resources)) {
        current = { resources, asked: new Set(), byBroker: new Map() };
      }
      current.asked.add(question);
      const own =
        current.byBroker.get(broker) ??
        resources.filter((each) => takesPart(broker, each)).map((each) => stackResource(each, inputs.get(each.urn)));
      current.byBroker.set(broker, own);
      return own;
    },
  };
}

function isRead(type: string): boolean {
  return (Object.keys(brokers) as BrokerName[]).some((broker) => takesPart(broker, { type }));
}

function isSameStack(one: readonly PolicyResource[], other: readonly PolicyResource[]): boolean {
  return one.length === other.length && one.every(({ urn }, index) => urn === other[index]?.urn);
}

/** @param inputs undefined where nothing was shown of them: the resource is only looked up, or every rule that is shown them is disabled */
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
