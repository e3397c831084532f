import type { HeadersMatch } from "../../../../declare/system.ts";
import { isEntry } from "../../../../foreign/entries.ts";
import { sqsLimits } from "../../compile/capabilities.ts";
import { filterOf, policyOf, routingKeyAttribute } from "../../compile/filter.ts";
import { type AuditedSubscription, known } from "../deployment.ts";

/** The routing keys that a subscription takes, with the reason if they are more than its filter lets through. */
export interface TakenKeys {
  readonly keys: readonly string[] | "all";
  readonly wider: string | null;
  /** The same as matches of a headers source. Null if none says the filter. */
  readonly matches: HeadersMatch | readonly HeadersMatch[] | "all" | null;
}

const wildcard = /(^|\.)[*#](\.|$)/;

/** Reads a filter policy as routing keys. Keys that no filter of Redeliver's says become `all`, because that loses nothing. */
export function keysOf({ filterPolicy, attributes }: AuditedSubscription): TakenKeys {
  const filter = known(filterPolicy);
  const isBody = attributes["FilterPolicyScope"] === "MessageBody";
  const others = Object.keys(filter ?? {}).filter((name) => name !== routingKeyAttribute);
  const matches = filterPolicy === "untold" || isBody ? null : matchesOf(filter);
  const taken = (keys: TakenKeys["keys"], reason: string | null): TakenKeys => {
    return { keys, wider: reason, matches };
  };
  const wider = (reason: string): TakenKeys => taken("all", reason);
  if (filterPolicy === "untold") return wider("its filter may not be read");
  if (filter === null) return taken("all", null);
  if (isBody) return wider("it filters by the body of a message");
  if (others.length > 0) return wider(`it filters by ${others.join(", ")}, and not only by lists of texts`);
  const value = filter[routingKeyAttribute];
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = values.filter((each) => typeof each === "string");
  const patterns = values.map(patternOf);
  const unsaid = values.findIndex((each, index) => typeof each !== "string" && patterns[index] === null);
  if (unsaid !== -1) return wider(`it has the value ${JSON.stringify(values[unsaid])}`);
  const added = patterns.findLast((pattern) => pattern !== null && !texts.includes(pattern.whole));
  const odd = texts.find((text) => wildcard.test(text) || text === "");
  if (odd !== undefined) return wider(`it has the value ${JSON.stringify(odd)}, which a topic reads as a pattern`);
  // A pattern compiles to its text and the rest, in this order. SNS and the provider compare a filter with its order.
  const keys = values.flatMap((each, index) => {
    if (typeof each !== "string") return patterns[index]?.key ?? [];
    const next = patterns.findIndex((pattern) => pattern?.whole === each);
    return next === -1 || next > index + 1 ? each : [];
  });
  return taken(keys, added ? `the key ${added.key} also takes ${added.whole}` : null);
}

/** One match for each combination of the values. */
function matchesOf(filter: Readonly<Record<string, unknown>> | null): TakenKeys["matches"] {
  const lists = Object.entries(filter ?? {});
  if (lists.length === 0) return "all";
  const match = lists.some(([name]) => name.startsWith("x-")) ? "all-with-x" : "all";
  let all: readonly HeadersMatch[] = [{ match, headers: {} }];
  for (const [name, value] of lists) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (!values.every((each): each is string => typeof each === "string")) return null;
    // SNS refuses a longer filter, but a file may have one.
    if (all.length * values.length > sqsLimits.filterValues) return null;
    all = all.flatMap(({ headers }) => values.map((each) => ({ match, headers: { ...headers, [name]: each } })));
  }
  const source = { from: { it: "all" }, matches: { it: all } } as const;
  if ("problems" in policyOf(source, "it", "headers")) return null;
  const [only] = all;
  return all.length === 1 && only !== undefined ? only : all;
}

/** A beginning with its dot is all keys below a word, and an end with its dot all keys above one. */
function patternOf(value: unknown): { readonly key: string; readonly whole: string } | null {
  if (!isEntry(value)) return null;
  const [[operator, text] = [], ...more] = Object.entries(value);
  if (more.length > 0 || typeof text !== "string") return null;
  const whole = operator === "prefix" ? text.replace(/\.$/, "") : text.replace(/^\./, "");
  const key = operator === "prefix" ? `${whole}.#` : `#.${whole}`;
  const filter = filterOf([key], "topic");
  const isSame = "values" in filter && JSON.stringify(filter.values?.[1]) === JSON.stringify(value);
  return isSame ? { key, whole } : null;
}

/** The kind that says most of the filters of a topic. One without any filter takes everything, as a fanout does. */
export function kindOf(all: readonly TakenKeys[]): "headers" | "topic" | "fanout" {
  const unsaid = all.filter(({ wider }) => wider !== null);
  if (all.filter(({ matches }) => matches === null).length < unsaid.length) return "headers";
  return all.every(({ keys }) => keys === "all") ? "fanout" : "topic";
}

/** The subscription as a source of a kind declares it. */
export function takenAs(kind: ReturnType<typeof kindOf>, { keys, wider, matches }: TakenKeys) {
  if (kind !== "headers") return { keys, wider };
  if (matches !== null) return { keys: matches, wider: null };
  return {
    keys: "all",
    wider: wider ?? "it has patterns of routing keys, and a headers source compares whole texts",
  } as const;
}
