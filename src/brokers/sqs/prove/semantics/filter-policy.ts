import type { SnsSubscription } from "../../compile/topology.ts";

/** The answer of a policy to a message or a request. Unknown if a part decides that Redeliver does not evaluate. */
export type Answer = "yes" | "no" | "unknown";

/**
 * The message must have every attribute that the policy names, with one of the policy's values. Attributes are of the
 * type String. Claims: topic-filter, topic-filter-operators. Source: SNS Developer Guide, "Amazon SNS subscription
 * filter policies".
 */
export function isTaken(policy: SnsSubscription["filterPolicy"], attributes: Readonly<Record<string, string>>): Answer {
  return Object.entries(policy ?? {})
    .map(([name, values]) => anyOf(values.map((value) => matches(value, attributes[name]))))
    .reduce(bothOf, "yes");
}

function bothOf(one: Answer, other: Answer): Answer {
  if (one === "no" || other === "no") return "no";
  return one === "unknown" ? one : other;
}

export function anyOf(answers: readonly Answer[]): Answer {
  if (answers.includes("yes")) return "yes";
  return answers.includes("unknown") ? "unknown" : "no";
}

/** @param given undefined if the message has no such attribute */
function matches(value: unknown, given: string | undefined): Answer {
  if (typeof value === "string") return yesIf(value === given);
  if (typeof value !== "object" || value === null) return "unknown";
  const [operator, operand] = Object.entries(value)[0] ?? [];
  if (operator === "exists" && typeof operand === "boolean") return yesIf(operand === (given !== undefined));
  if (operator === "anything-but" && isTexts(operand))
    return yesIf(given !== undefined && !(typeof operand === "string" ? [operand] : operand).includes(given));
  if (typeof operand !== "string") return "unknown";
  if (operator === "prefix") return yesIf(given?.startsWith(operand) === true);
  if (operator === "suffix") return yesIf(given?.endsWith(operand) === true);
  if (operator === "equals-ignore-case") return yesIf(given?.toLowerCase() === operand.toLowerCase());
  return "unknown";
}

function yesIf(holds: boolean): Answer {
  return holds ? "yes" : "no";
}

function isTexts(value: unknown): value is string | readonly string[] {
  return typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "string"));
}
