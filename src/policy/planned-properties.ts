import type { Entry } from "../foreign/entries.ts";
import { hasUnknown } from "../foreign/pulumi-resource.ts";
import { assignedTo } from "./resource-types.ts";

/**
 * The properties of a resource after the update: the provider's outputs, and the program's inputs where a preview
 * leaves an output open.
 *
 * In a preview, @pulumi/azure-native returns only the values that the program gives, and no names, because names are in
 * the path of a request. If an output is unknown and the program does not give it, it counts as the provider's default
 * and is left out. A property that the provider assigns stays unknown.
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
