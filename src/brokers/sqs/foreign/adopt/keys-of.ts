import type { FoundSource } from "../../../../adopt/found.ts";
import { isEntry } from "../../../../foreign/entries.ts";
import { filterOf, routingKeyAttribute } from "../../compile/filter.ts";
import { type AuditedSubscription, known } from "../deployment.ts";

/** The routing keys that a subscription takes, with the reason if they are more than its filter lets through. */
export interface TakenKeys {
  readonly keys: readonly string[] | "all";
  readonly wider: string | null;
}

const wildcard = /(^|\.)[*#](\.|$)/;

/** Reads a filter policy as routing keys. Keys that no filter of Redeliver's says become `all`, because that loses nothing. */
export function keysOf({ filterPolicy, attributes }: AuditedSubscription): TakenKeys {
  const filter = known(filterPolicy);
  const wider = (reason: string): TakenKeys => ({ keys: "all", wider: reason });
  if (filterPolicy === "untold") return wider("its filter may not be read");
  if (filter === null) return { keys: "all", wider: null };
  if (attributes["FilterPolicyScope"] === "MessageBody") return wider("it filters by the body of a message");
  const others = Object.keys(filter).filter((name) => name !== routingKeyAttribute);
  if (others.length > 0)
    return wider(`it filters by ${others.join(", ")}, and a declaration by the attribute ${routingKeyAttribute} alone`);
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
  return { keys, wider: added ? `the key ${added.key} also takes ${added.whole}` : null };
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

/** A topic without any filter takes everything, as a fanout does. */
export function kindOf(all: readonly TakenKeys[]): FoundSource["kind"] {
  return all.every(({ keys }) => keys === "all") ? "fanout" : "topic";
}
