import { misfit, unknownOptions } from "../../../contract/shared-problems.ts";
import type { Diagnostic, PathSegment } from "../../../diagnostics/diagnostic.ts";
import { type Entry, isEntry } from "../../../foreign/entries.ts";
import { isPatternReadable } from "./policy-pattern.ts";

export const policyScopes = ["all", "exchanges", "queues", "classic_queues", "quorum_queues", "streams"] as const;
const kinds = ["user", "operator"] as const;

/** A policy on the broker that somebody else owns. It is never created, changed or deleted. */
export interface ForeignPolicy {
  /** Its name on the broker. */
  readonly name: string;
  /** `operator`: an operator's policy, which the broker merges over the user's. */
  readonly kind: (typeof kinds)[number];
  /** A regular expression of the dialect PCRE. It matches anywhere in a name. */
  readonly pattern: string;
  /** The kind of resource that it applies to. */
  readonly applyTo: (typeof policyScopes)[number];
  /** Among several policies of its kind that match, the broker takes the one with the highest priority. */
  readonly priority: number;
  /** The broker's own keys and values. */
  readonly definition: Readonly<Record<string, string | number | boolean>>;
}

/** A policy of others as a person writes it. Left out, `kind` is user, `applyTo` all and `priority` 0, as on the broker. */
export type ForeignPolicyInput = Pick<ForeignPolicy, "name" | "pattern" | "definition"> &
  Partial<Pick<ForeignPolicy, "kind" | "applyTo" | "priority">>;

const path = ["target", "policies"] as const;
const keys = ["name", "kind", "pattern", "applyTo", "priority", "definition"];
const example =
  'write for example policies: [{ name: limits, kind: operator, pattern: "^shop", applyTo: queues, definition: { delivery-limit: 50 } }]';

/** Checks the policies of others as a person wrote them. */
export function diagnoseForeignPolicies(given: unknown): Diagnostic[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) return [misfit(path, given, "this is no list of policies", example)];
  const names = new Set<string>();
  return given.flatMap((each: unknown, index) => {
    if (!isEntry(each)) return [misfit([...path, index], each, "this is no policy", example)];
    const key = `${String(each["kind"] ?? "user")} ${String(each["name"])}`;
    const isTwice = names.has(key);
    names.add(key);
    return [
      ...diagnosePolicy([...path, index], each),
      ...(isTwice
        ? [misfit([...path, index, "name"], each["name"], "two policies have this name and kind", "name each once")]
        : []),
    ];
  });
}

function diagnosePolicy(at: readonly PathSegment[], policy: Entry): Diagnostic[] {
  const { name, kind = "user", pattern, applyTo = "all", priority = 0, definition } = policy;
  const problem = (key: string, isRight: boolean, message: string, help: string): Diagnostic[] =>
    isRight ? [] : [misfit([...at, key], policy[key], message, help)];
  const isOneOf = (words: readonly string[], value: unknown): boolean => words.includes(value as string);
  return [
    ...unknownOptions(at, "option of a policy", policy, keys),
    ...problem("name", typeof name === "string" && name !== "", "this is no name of a policy", "write its name"),
    ...problem("kind", isOneOf(kinds, kind), "this is no kind of policy", `write one of ${kinds.join(", ")}`),
    ...problem(
      "pattern",
      typeof pattern === "string" && isPatternReadable(pattern),
      "this pattern cannot be read",
      "write the regular expression of the policy; if it is one, let its owner write a plainer one",
    ),
    ...problem(
      "applyTo",
      isOneOf(policyScopes, applyTo),
      "policies do not apply to this",
      `write one of ${policyScopes.join(", ")}`,
    ),
    ...problem("priority", Number.isInteger(priority), "this is no priority", "write a whole number, as on the broker"),
    ...problem(
      "definition",
      isEntry(definition) &&
        Object.keys(definition).length > 0 &&
        Object.values(definition).every((value) => ["string", "number", "boolean"].includes(typeof value)),
      "this is no definition of a policy",
      "write its keys and values as on the broker, for example { message-ttl: 60000 }",
    ),
  ];
}

/** The policies with the values that are left out. */
export function foreignPoliciesIn(given: readonly ForeignPolicyInput[]): readonly ForeignPolicy[] {
  return given.map(({ name, kind = "user", pattern, applyTo = "all", priority = 0, definition }) => {
    return { name, kind, pattern, applyTo, priority, definition: { ...definition } };
  });
}
