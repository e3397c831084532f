import { type Diagnostic, type PathSegment, diagnosed } from "../diagnostics/diagnostic.ts";
import { isMapping } from "./read-duration.ts";
import type { StatedFilter, Taken } from "./system.ts";

export function isStated(taken: Taken): taken is StatedFilter {
  return typeof taken === "object" && "filterPolicy" in taken;
}

/** The rules of a filter of SNS. Redeliver knows its form. SNS itself checks the values at the deployment. */
export function statedRules(
  path: readonly PathSegment[],
  value: StatedFilter,
  { kind, exchangeType }: { readonly kind?: unknown; readonly exchangeType?: unknown },
): Diagnostic[] {
  if (kind !== "opaque" || exchangeType !== undefined)
    return diagnosed("RD110", {
      path,
      message: `a source of kind ${String(kind)}${kind === "opaque" ? " with an exchangeType" : ""} has no filterPolicy`,
      value,
      help: 'give the source kind: "opaque" without an exchangeType, which only SQS has, or list routing keys',
    });
  const { filterPolicy, filterPolicyScope: scope } = value;
  const wrong = wrongPart(filterPolicy, scope === "MessageBody", []);
  if (wrong === null) return [];
  return diagnosed("RD110", {
    path: [...path, "filterPolicy", ...wrong],
    message: `SNS takes no such filter: each ${scope === "MessageBody" ? "property" : "attribute"} has a list of values`,
    ...(wrong.length === 0 ? { value: filterPolicy } : {}),
    notes:
      scope !== "MessageBody" && wrong.length > 0 && isMapping(filterPolicy[wrong[0] ?? ""])
        ? ['properties within a property take filterPolicyScope: "MessageBody"']
        : [],
    help: 'write for example { eventType: [{ prefix: "order." }] }',
  });
}

/**
 * The path of the first part that SNS would refuse, or null. In the body, a property may have properties. Source: SNS
 * Developer Guide, "Filter policy constraints".
 */
function wrongPart(part: object, isBody: boolean, path: readonly string[]): readonly string[] | null {
  const entries = Object.entries(part);
  if (entries.length === 0) return path;
  for (const [key, value] of entries) {
    const here = [...path, key];
    if (Array.isArray(value) && value.length > 0) continue;
    const wrong = isBody && isMapping(value) ? wrongPart(value, isBody, here) : here;
    if (wrong !== null) return wrong;
  }
  return null;
}

/** True for a filter that a declaration may state. */
export function isSoundPolicy({ filterPolicy, filterPolicyScope }: StatedFilter): boolean {
  return wrongPart(filterPolicy, filterPolicyScope === "MessageBody", []) === null;
}
