import { type Entry, isEntry } from "../../foreign/entries.ts";
import { type Target, brokerOf, checkTarget } from "../../brokers/index.ts";
import { unknownText } from "../../foreign/pulumi-resource.ts";
import { isComponentType } from "../component.ts";
import { plannedProperties } from "../planned-properties.ts";
import { assignedTo } from "../resource-types.ts";
import { type PreviewStep, propertiesOf } from "./step.ts";

/**
 * Finds the properties at the provider after the update.
 *
 * A preview writes a step down when it begins, so the outputs of the step are there only by chance.
 * `ResourcePreEvent` comes before Pulumi applies the step, and another goroutine reads its state. If they are missing,
 * an unchanged resource keeps its old outputs. An updated one keeps the old outputs that the program does not set. In a
 * new one, the properties that the provider assigns are unknown.
 */
export function outputsOf({ op, oldState }: PreviewStep, newState: Entry): Entry {
  const inputs = propertiesOf(newState["inputs"]);
  const own = propertiesOf(newState["outputs"]);
  if (newState["custom"] !== true) return { ...componentOutputs(String(newState["type"]), inputs), ...own };
  if (Object.keys(own).length > 0) return plannedProperties(String(newState["type"]), own, inputs);
  const before = propertiesOf(oldState?.["outputs"]);
  if (op === "same") return { ...inputs, ...before };
  if (op === "update" || op === "refresh" || (op === "read" && oldState !== null)) {
    const asked = new Set([...Object.keys(propertiesOf(oldState?.["inputs"])), ...Object.keys(inputs)]);
    return { ...Object.fromEntries(Object.entries(before).filter(([key]) => !asked.has(key))), ...inputs };
  }
  const unknown = assignedTo(String(newState["type"]));
  // A resource that is only looked up has its id alone among its inputs.
  const lookedUp = newState["external"] === true ? ["name"] : [];
  return { ...Object.fromEntries([...unknown, ...lookedUp].map((key) => [key, unknownText])), ...inputs };
}

/**
 * A component registers its outputs when its children are there, so a step never has them. The rules need one of them:
 * the target of Redeliver's own component.
 */
function componentOutputs(type: string, { target }: Entry): Entry {
  if (!isComponentType(type) || !isEntry(target)) return {};
  const checked = checkTarget(target as unknown as Target);
  return checked.ok ? { target: brokerOf(checked.value).formatTarget(checked.value) } : {};
}
