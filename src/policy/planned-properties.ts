import type { Entry } from "../brokers/entries.ts";
import { hasUnknown } from "../brokers/pulumi-resource.ts";
import { assignedTo } from "./resource-types.ts";

/**
 * What a resource is going to be: what its provider tells, and where a preview leaves that open, what the program asks for.
 *
 * @pulumi/azure-native projects no outputs but those that the program gives, and leaves out what stands in the path of a request, names among
 * it. What the program says nothing of is left to the provider, as if nothing was told; what that assigns stays unknown.
 * Source: `PreviewOutputs` in `provider/pkg/convert` of pulumi-azure-native.
 */
export function plannedProperties(type: string, outputs: Entry, inputs: Entry): Entry {
  const assigned = new Set(assignedTo(type));
  const told = Object.entries(outputs).filter(
    ([key, value]) => !hasUnknown(value) || assigned.has(key) || key in inputs,
  );
  const open = Object.entries(inputs).filter(([key]) => !(key in outputs) || hasUnknown(outputs[key]));
  return { ...Object.fromEntries(told), ...Object.fromEntries(open) };
}
