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
  const keys: string[] = [];
  const within = new Set<string>();
  let added: string | null = null;
  for (const each of values) {
    if (typeof each === "string") continue;
    const pattern = patternOf(each);
    if (pattern === null) return wider(`it has the value ${JSON.stringify(each)}`);
    keys.push(pattern.key);
    within.add(pattern.whole);
    if (!texts.includes(pattern.whole)) added = `the key ${pattern.key} also takes ${pattern.whole}`;
  }
  const odd = texts.find((text) => wildcard.test(text) || text === "");
  if (odd !== undefined) return wider(`it has the value ${JSON.stringify(odd)}, which a topic reads as a pattern`);
  return { keys: [...texts.filter((text) => !within.has(text)), ...keys], wider: added };
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
