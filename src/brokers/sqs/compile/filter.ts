import type { HeadersMatch, SourceInput } from "../../../declare/system.ts";
import type { ConsumerPlan } from "../../../plan/plan.ts";

/**
 * One value of a filter policy, on a message attribute of the type String. SNS takes a message if one of them matches.
 */
export type FilterValue = string | { readonly prefix: string } | { readonly suffix: string };

/** The attribute that carries the publisher's routing key. */
export const routingKeyAttribute = "routing-key";

/** The filter values for SNS, or the reason that SNS cannot express them. Null takes everything. */
export type Filter =
  | { readonly values: readonly FilterValue[] | null }
  | { readonly problems: readonly { readonly index: number; readonly message: string; readonly help: string }[] };

/**
 * Builds filter values that take the same messages as the declared keys. SNS knows whole values, beginnings and ends,
 * but no wildcard in between. So it can express `#` at the end or the start exactly. It cannot express `*`, since a
 * beginning would also take values with more words. Source: SNS Developer Guide, "String value matching".
 */
export function filterOf(keys: ConsumerPlan["from"][string], kind: SourceInput["kind"]): Filter {
  if (keys === "all" || kind === "fanout") return { values: null };
  const all = keys.map((key) => (kind === "topic" ? valuesOf(key) : exactly(key)));
  const problems = all.flatMap((each, index) => ("message" in each ? [{ index, ...each }] : []));
  if (problems.length > 0) return { problems };
  const values = all.flatMap((each) => ("values" in each ? [each.values] : []));
  if (values.some((each) => each === null)) return { values: null };
  const unique = new Map(values.flatMap((each) => each ?? []).map((each) => [JSON.stringify(each), each]));
  return { values: [...unique.values()] };
}

type Values = { readonly values: readonly FilterValue[] | null } | { readonly message: string; readonly help: string };

function exactly(key: string): Values {
  if (!/["\\]/.test(key)) return { values: [key] };
  return {
    message: `SNS does not compare ${JSON.stringify(key)} as it stands`,
    help: 'use texts without " and \\, which SNS wants escaped in ways of its own',
  };
}

/** The values for one topic pattern: words between dots, `*` for one word, `#` for any number of them. */
function valuesOf(pattern: string): Values {
  const words = pattern.split(".").filter((word, index, all) => word !== "#" || all[index - 1] !== "#");
  if (words.length === 1 && words[0] === "#") return { values: null };
  const first = words[0] === "#";
  const last = words.at(-1) === "#";
  const rest = words.slice(first ? 1 : 0, last ? -1 : undefined);
  if (rest.some((word) => word === "*" || word === "#") || (first && last)) return beyond(pattern, rest);
  const key = rest.join(".");
  const exact = exactly(key);
  if ("message" in exact || (!first && !last)) return exact;
  return { values: [key, last ? { prefix: `${key}.` } : { suffix: `.${key}` }] };
}

function beyond(pattern: string, rest: readonly string[]): Values {
  const beginning = rest.slice(
    0,
    Math.max(
      0,
      rest.findIndex((word) => word === "*" || word === "#"),
    ),
  );
  const wider = beginning.length === 0 || pattern.startsWith("#") ? '"all"' : `${beginning.join(".")}.#`;
  return {
    message: `SNS cannot filter by ${JSON.stringify(pattern)}: it compares whole values, beginnings and ends`,
    help: `list the routing keys themselves, or take ${wider}, which takes more: let the handler skip the rest`,
  };
}

interface Problem {
  /** That of the routing key. Left out for the matches of a headers source, which have one problem together. */
  readonly index?: number;
  readonly message: string;
  readonly help: string;
}

/** The filter policy of one source of a consumer, or the reasons that SNS cannot express it. */
export function policyOf(
  { from, matches }: Pick<ConsumerPlan, "from" | "matches">,
  source: string,
  kind: SourceInput["kind"],
):
  | { readonly policy: Readonly<Record<string, readonly FilterValue[]>> | null }
  | { readonly problems: readonly Problem[] } {
  const own = matches?.[source];
  if (own !== undefined) {
    const attributes = attributesOf(own);
    return "message" in attributes ? { problems: [attributes] } : { policy: attributes.values };
  }
  const filter = filterOf(from[source] ?? "all", kind);
  if ("problems" in filter) return filter;
  return { policy: filter.values === null ? null : { [routingKeyAttribute]: filter.values } };
}

/**
 * The texts of each attribute that the matches of a headers source take. SNS wants one of the texts of every attribute.
 * So the matches have to be all combinations of such lists, as they are if they differ in one header alone.
 * Source: SNS Developer Guide, "AND/OR logic".
 */
export function attributesOf(
  matches: readonly HeadersMatch[],
): { readonly values: Readonly<Record<string, readonly string[]>> } | Problem {
  const names = Object.keys(matches[0]?.headers ?? {});
  const lists = names.map((name) => [...new Set(matches.map(({ headers }) => headers[name]))]);
  const areAlike = matches.every(
    ({ match, headers }) =>
      Object.keys(headers).length === names.length &&
      names.every((name) => Object.hasOwn(headers, name)) &&
      (match.startsWith("all") || names.length === 1),
  );
  // Two forms of a match may have the same headers.
  const different = new Set(matches.map(({ headers }) => JSON.stringify(names.map((name) => headers[name]))));
  if (!areAlike || lists.reduce((all, { length }) => all * length, 1) > different.size)
    return {
      message:
        "a filter of SNS has a list of values for each attribute, and the matches are not all combinations of such lists",
      help: 'write matches with match: "all" that name the same headers and differ in one, or divide the consumer',
    };
  const other = lists.flat().find((value) => typeof value !== "string");
  if (other !== undefined)
    return {
      message: `the value ${String(other)} is not a text, and Redeliver filters by attributes of the type String alone`,
      help: `write the text "${String(other)}", if the publisher sets an attribute of that type`,
    };
  const refused = lists
    .flat()
    .map((value) => exactly(String(value)))
    .find((each) => "message" in each);
  if (refused !== undefined) return refused;
  return { values: Object.fromEntries(names.map((name, at) => [name, (lists[at] ?? []).map(String)])) };
}
