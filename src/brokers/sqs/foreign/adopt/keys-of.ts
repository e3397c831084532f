import { isSoundPolicy } from "../../../../declare/stated-filter.ts";
import type { HeadersMatch, StatedFilter } from "../../../../declare/system.ts";
import { isEntry } from "../../../../foreign/entries.ts";
import { sqsLimits } from "../../compile/capabilities.ts";
import { filterOf, policyOf, routingKeyAttribute } from "../../compile/filter.ts";
import { type AuditedSubscription, known } from "../deployment.ts";

/** The messages that a subscription takes, in each form that a declaration has for them. */
export interface TakenKeys {
  /** As routing keys. Null if none say its filter. */
  readonly keys: readonly string[] | "all" | null;
  /** The reason why the keys take more than the filter. */
  readonly wider: string | null;
  /** As matches of a headers source. Null if none say its filter. */
  readonly matches: HeadersMatch | readonly HeadersMatch[] | "all" | null;
  /** The filter itself. Null if no declaration can state it. */
  readonly stated: StatedFilter | "all" | null;
}

const wildcard = /(^|\.)[*#](\.|$)/;

const everything: TakenKeys = { keys: "all", wider: null, matches: "all", stated: "all" };

/** Reads a filter policy. An unreadable one counts as none, because that loses nothing. */
export function keysOf({ filterPolicy, attributes }: AuditedSubscription): TakenKeys {
  const filter = known(filterPolicy);
  if (filterPolicy === "untold") return { ...everything, wider: "its filter may not be read" };
  if (filter === null || Object.keys(filter).length === 0) return everything;
  const isBody = attributes["FilterPolicyScope"] === "MessageBody";
  const stated = { filterPolicy: filter, ...(isBody ? { filterPolicyScope: "MessageBody" as const } : {}) };
  const keys = isBody ? null : routingKeysOf(filter);
  return {
    keys: keys?.keys ?? null,
    wider: keys?.wider ?? null,
    matches: isBody ? null : matchesOf(filter),
    stated: isSoundPolicy(stated) ? stated : null,
  };
}

/** The filter as routing keys, with the reason if they take more. Null if none say it. */
function routingKeysOf(filter: Readonly<Record<string, unknown>>) {
  const { [routingKeyAttribute]: value, ...others } = filter;
  if (Object.keys(others).length > 0) return null;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = values.filter((each) => typeof each === "string");
  const patterns = values.map(patternOf);
  const isSaid = values.every((each, index) => typeof each === "string" || patterns[index] !== null);
  if (!isSaid || texts.some((text) => wildcard.test(text) || text === "")) return null;
  const added = patterns.findLast((pattern) => pattern !== null && !texts.includes(pattern.whole));
  // A pattern compiles to its text and the rest, in this order. SNS and the provider compare a filter with its order.
  const keys = values.flatMap((each, index) => {
    if (typeof each !== "string") return patterns[index]?.key ?? [];
    const next = patterns.findIndex((pattern) => pattern?.whole === each);
    return next === -1 || next > index + 1 ? each : [];
  });
  return { keys, wider: added ? `the key ${added.key} also takes ${added.whole}` : null };
}

/** One match for each combination of the values. */
function matchesOf(filter: Readonly<Record<string, unknown>>): TakenKeys["matches"] {
  const lists = Object.entries(filter);
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

/** The kind that says the filters of all subscriptions of a topic. One without any filter takes everything, as a fanout does. */
export function kindOf(all: readonly TakenKeys[]): "headers" | "topic" | "fanout" | "opaque" {
  if (all.every(({ keys }) => keys === "all")) return "fanout";
  if (all.every(({ keys }) => keys !== null)) return "topic";
  return all.every(({ matches }) => matches !== null) ? "headers" : "opaque";
}

/** The subscription as a source of a kind declares it. */
export function takenAs(kind: ReturnType<typeof kindOf>, { keys, wider, matches, stated }: TakenKeys) {
  const taken = kind === "headers" ? matches : kind === "opaque" ? stated : keys;
  if (taken === null) return { keys: "all", wider: "its filter has an attribute without a list of values" } as const;
  return { keys: taken, wider: taken === keys ? wider : null };
}
