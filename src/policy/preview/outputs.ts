import type { Entry } from "../../brokers/entries.ts";
import { isEntry } from "../../brokers/entries.ts";
import type { Target } from "../../brokers/index.ts";
import { brokerOf, checkTarget } from "../../brokers/index.ts";
import { unknownText } from "../../brokers/pulumi-resource.ts";
import { isComponentType } from "../component.ts";
import { plannedProperties } from "../planned-properties.ts";
import { assignedTo } from "../resource-types.ts";
import type { PreviewStep } from "./step.ts";
import { propertiesOf } from "./step.ts";

/**
 * What there is going to be at the provider.
 *
 * A step is written down when it begins, so that its outputs are there only by chance: `ResourcePreEvent` comes before the step is applied, and
 * its state is read by another goroutine. Where they are not, what is the same stays the same; of what is updated, everything that the
 * program does not ask for does; and of what is new, what the provider assigns is not known.
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
  // What is only looked up has nothing but its id among its inputs.
  const lookedUp = newState["external"] === true ? ["name"] : [];
  return { ...Object.fromEntries([...unknown, ...lookedUp].map((key) => [key, unknownText])), ...inputs };
}

/** A component registers its outputs when its children are there, so a step never has them. Of ours the rules ask for the target. */
function componentOutputs(type: string, { target }: Entry): Entry {
  if (!isComponentType(type) || !isEntry(target)) return {};
  const checked = checkTarget(target as unknown as Target);
  return checked.ok ? { target: brokerOf(checked.value).formatTarget(checked.value) } : {};
}
