import type { Entry } from "../../entries.ts";
import { isEntry } from "../../entries.ts";

/**
 * The first attribute of a filter policy that no message can meet; null where every one may be met. Of the values of one attribute a single
 * one is enough; all attributes have to be met. Inside of `$or` nothing is looked at.
 * Source: SNS Developer Guide, "Amazon SNS subscription filter policies", "Numeric value matching".
 */
export function impossibleAttribute(policy: Entry): string | null {
  for (const [name, values] of Object.entries(policy)) {
    if (name === "$or") continue;
    // A filter on the body can ask for a key within a key.
    if (isEntry(values)) {
      const inner = impossibleAttribute(values);
      if (inner !== null) return `${name}.${inner}`;
    } else if (Array.isArray(values) && values.every(isNeverMet)) return name;
  }
  return null;
}

/** A value of a filter that nothing meets: a range of numbers without any number in it. */
function isNeverMet(value: unknown): boolean {
  if (!isEntry(value) || !Array.isArray(value["numeric"])) return false;
  const range: readonly unknown[] = value["numeric"];
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let isOpen = false;
  for (let index = 0; index < range.length; index += 2) {
    const [operator, bound] = [range[index], range[index + 1]];
    if (typeof bound !== "number") return false;
    if (operator === "=" || operator === ">" || operator === ">=") low = Math.max(low, bound);
    if (operator === "=" || operator === "<" || operator === "<=") high = Math.min(high, bound);
    isOpen ||= operator === ">" || operator === "<";
  }
  return low > high || (low === high && isOpen);
}
