import type { z } from "zod";

import type { StackKeys } from "../brokers/stack-keys.ts";

export type Issue = z.core.$ZodIssue;

/** The way to set the values that every broker has, for the help of a diagnostic. */
const howTo: Readonly<Record<string, string>> = {
  "target.broker": "write the name of a broker that this program deploys to",
  "target.strategy": "leave it out for auto, or name a strategy in quotes",
};

/** The way to set a value; undefined for an unknown one. */
export function howToSet(stack: StackKeys, path: string): string | undefined {
  return stack.howTo[path] ?? howTo[path];
}

/** Describes the problem of a value without the value, because it may be a secret. */
export function problemOf(stack: StackKeys, issue: Issue, within: string, value: unknown): string {
  if (issue.code === "too_small") return `${within} is empty`;
  const own = stack.problemOf(within, value);
  if (own !== null) return own;
  if (typeof value === "number") return `${within} is a number, not a text: YAML reads 4.10 as 4.1`;
  if (within === "target") return "target is not a mapping";
  return issue.code === "invalid_value" ? `${within} is none of the allowed values` : `${within} is not a text`;
}

/** The edit that fixes it. */
export function helpFor(stack: StackKeys, within: string, value: unknown, namespace: string): string {
  const help = howToSet(stack, within) ?? "remove it";
  return within === "endpoint" && /[@?#]/.test(String(value))
    ? `${help}; the user is ${namespace}:username; set the secret with pulumi config set --secret ${namespace}:password`
    : help;
}
