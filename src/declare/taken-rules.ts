import { type Diagnostic, type PathSegment, diagnosed, diagnostic } from "../diagnostics/diagnostic.ts";
import { fromExpression } from "./literal-texts.ts";
import { isStated, statedRules } from "./stated-filter.ts";
import type { HeadersMatch, Taken } from "./system.ts";

/** A source that may have faults. */
export interface TakenFrom {
  readonly kind?: unknown;
  readonly exchangeType?: unknown;
}

/** The rules of the messages that a consumer takes from one source. */
export function takenRules(path: readonly PathSegment[], taken: Taken, source: TakenFrom): Diagnostic[] {
  const { kind, exchangeType } = source;
  if (isStated(taken)) return statedRules(path, taken, source);
  const isMatch = taken !== "all" && ("match" in taken || taken.some((each) => typeof each !== "string"));
  if (isMatch || kind === "headers") {
    if (taken === "all") return [];
    return isMatch && kind === "headers" ? headersRules(path, taken as HeadersMatch) : refuseKind(path, taken, kind);
  }
  const keys = taken as readonly string[] | "all";
  if (keys === "all") {
    if (kind !== "direct" && (kind !== "opaque" || exchangeType === undefined)) return [];
    return diagnosed("RD110", {
      path,
      message: `a source of kind ${kind} cannot be taken as "all": its bindings have keys`,
      value: keys,
      help: "list the routing keys, or make the source a topic or a fanout",
    });
  }
  if (kind === "fanout")
    return diagnosed("RD110", {
      path,
      message: "a fanout source ignores routing keys, so the list would filter nothing",
      value: keys,
      help: 'write "all", or make the source a topic',
    });
  if (kind === "opaque" && exchangeType === undefined)
    return diagnosed("RD110", {
      path,
      message: "an opaque source without an exchangeType is a topic of SNS, and has no routing keys here",
      value: keys,
      help: 'write "all", or a filter such as { filterPolicy: { eventType: ["order"] } }; of an exchange, its exchangeType',
    });
  if (keys.length === 0)
    return diagnosed("RD109", {
      path,
      message: "the list of routing keys is empty, so nothing would arrive",
      value: keys,
      help: 'list at least one routing key, or write "all"',
    });
  return keys.flatMap((key, index) => {
    const problem = routingKeyProblem(key, index, keys, source);
    return problem === undefined ? [] : diagnosed("RD110", { path: [...path, index], value: key, ...problem });
  });
}

/** Keys of a headers source, or headers of another one. */
function refuseKind(path: readonly PathSegment[], value: Taken, kind: unknown): Diagnostic[] {
  return kind === "headers"
    ? diagnosed("RD110", {
        path,
        message: "a headers source ignores routing keys, so the list would filter nothing",
        value,
        help: 'write "all", or the headers, for example { match: "all", headers: { type: "invoice" } }',
      })
    : diagnosed("RD110", {
        path,
        message: `a ${String(kind)} source does not look at headers`,
        value,
        help: 'list routing keys, or give the source kind: "headers"',
      });
}

function headersRules(path: readonly PathSegment[], taken: HeadersMatch | readonly HeadersMatch[]): Diagnostic[] {
  if ("match" in taken) return matchRules(path, taken);
  const texts = taken.map(({ match, headers }) => JSON.stringify([match, Object.entries(headers).toSorted()]));
  return taken.flatMap((value, index) =>
    texts.indexOf(texts[index] ?? "") === index
      ? matchRules([...path, index], value)
      : diagnosed("RD110", {
          path: [...path, index],
          message: "the match is listed twice",
          value,
          help: "remove one of the two",
        }),
  );
}

function matchRules(path: readonly PathSegment[], value: HeadersMatch): Diagnostic[] {
  const names = Object.keys(value.headers);
  if (names.length === 0)
    return diagnosed("RD109", { path, message: "no header is named", value, help: 'name one, or write "all"' });
  if (value.match.endsWith("-with-x")) return [];
  return names
    .filter((header) => header.startsWith("x-"))
    .map((header) =>
      diagnostic("RD110", {
        path: [...path, "headers", header],
        message: `match "${value.match}" ignores headers whose names begin with x-`,
        value: value.headers[header],
        help: `write match: "${value.match}-with-x"`,
      }),
    );
}

function routingKeyProblem(key: string, index: number, keys: readonly string[], { kind, exchangeType }: TakenFrom) {
  if (keys.indexOf(key) !== index)
    return { message: `${JSON.stringify(key)} is listed twice`, help: "remove one of the two" };
  const bytes = Buffer.byteLength(key);
  if (bytes > 255) return { message: `the routing key has ${bytes} bytes; 255 are allowed`, help: "shorten it" };
  // Source: `validate_binding/2` in `rabbit_exchange_type_consistent_hash.erl`.
  if (exchangeType === "x-consistent-hash" && !/^\+?0*[1-9]\d*$/.test(key))
    return {
      message: "the key of a consistent hash is a weight: the broker refuses all but whole numbers above zero",
      help: 'write the weight, for example "10"',
    };
  const words = key.split(".");
  if (kind === "direct" && words.some((word) => word === "*" || word === "#"))
    return {
      message: "a direct source matches whole routing keys; * and # mean themselves there",
      help: "make the source a topic, or list the routing keys",
    };
  if (kind === "topic" && words.includes(">"))
    return {
      message: "> is a wildcard of NATS; here # takes any number of words",
      help: `write ${JSON.stringify(words.map((word) => (word === ">" ? "#" : word)).join("."))}`,
    };
  if (kind === "topic" && words.some((word) => word.length > 1 && /[*#]/.test(word))) {
    const pattern = fromExpression(key) ?? wholeWildcards(words);
    return {
      message: "* and # are wildcards only as whole words between dots",
      help: `write ${JSON.stringify(pattern)}, or list the routing keys`,
    };
  }
  return undefined;
}

/** The pattern with a wildcard in place of each word that has one in it. It takes more than the user's. */
function wholeWildcards(words: readonly string[]): string {
  return words
    .map((word, index) => {
      const text = word.replaceAll(/[*#]/g, "");
      if (text === word || word.length === 1) return word;
      if (text === "") return "#";
      return index === 0 ? `${text}${words.length === 1 ? ".#" : ""}` : "*";
    })
    .join(".");
}
