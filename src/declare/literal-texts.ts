import { type Diagnostic, type PathSegment, diagnostic } from "../diagnostics/diagnostic.ts";
import { asCode } from "./corrections.ts";
import { isStated } from "./stated-filter.ts";
import type { System, Taken } from "./system.ts";

/** A text that has a meaning elsewhere, and none here. */
interface Literal {
  readonly problem: string;
  readonly help: string;
}

/**
 * Warns of texts that are taken as they are, and hardly meant so: a list in one text, a variable, a pattern of another
 * tool. A binding with such a key matches nothing, and nobody notices that no message arrives.
 */
export function warnOfLiterals({ name, sources, consumers }: System): Diagnostic[] {
  const warn = (path: readonly PathSegment[], value: string, literal: Literal | null): Diagnostic[] => {
    if (literal === null) return [];
    const { problem, help } = literal;
    return [diagnostic("RD121", { path, value, message: `${JSON.stringify(value)} ${problem}`, help })];
  };
  const ofName = (path: readonly PathSegment[], value: string | undefined): Diagnostic[] =>
    value === undefined ? [] : warn(path, value, variableIn(value) ?? severalIn(value, /\s*[,;]\s*/));
  return [
    ...ofName(["name"], name),
    ...Object.entries(sources).flatMap(([source, { name: physical }]) => [
      ...ofName(["sources", source], source),
      ...ofName(["sources", source, "name"], physical),
    ]),
    ...Object.entries(consumers).flatMap(([consumer, { from = {}, queue, errors }]) => [
      ...ofName(["consumers", consumer], consumer),
      ...ofName(["consumers", consumer, "queue"], queue),
      ...Object.entries(from).flatMap(([source, keys]) =>
        keysIn(keys).flatMap((key, index, { length }) =>
          warn(
            ["consumers", consumer, "from", source, index],
            key,
            literalKey(key, sources[source]?.kind, length === 1),
          ),
        ),
      ),
      ...(errors?.permanent ?? []).flatMap((each, index) =>
        warn(
          ["consumers", consumer, "errors", "permanent", index],
          each,
          variableIn(each) ?? severalIn(each, betweenWords),
        ),
      ),
    ]),
  ];
}

/** The keys in a list. Another list has matches of headers. */
function keysIn(taken: Taken): readonly string[] {
  return taken === "all" || isStated(taken) || "match" in taken ? [] : taken.filter((each) => typeof each === "string");
}

function literalKey(key: string, kind: string | undefined, isOnly: boolean): Literal | null {
  const all = kind === "direct" || kind === "opaque" ? "list the routing keys" : 'write "all", without a list';
  if (isOnly && /^(all|any|every(thing)?)$/i.test(key)) return { problem: "is a routing key in a list", help: all };
  if (isOnly && key === "*" && kind === "topic")
    return { problem: "takes only keys of a single word, without a dot", help: all };
  if (/^[!-](?=\w)/.test(key))
    return { problem: "excludes nothing", help: "list the keys to take, and let the handler skip the rest" };
  if (/^\^|^\/.*\/\w*$|\\|\(.*\)|\[.*\]|\.\*$/.test(key) && !/^[\w.#*-]+$/.test(key))
    return {
      problem: "is no regular expression here",
      help: `write ${JSON.stringify(fromExpression(key) ?? "order.#")}, or list the routing keys`,
    };
  const [, before = "", choices, after = ""] = /^([^{}]*)(?<!\$)\{([^{}]*,[^{}]*)\}([^{}]*)$/.exec(key) ?? [];
  if (choices !== undefined) {
    const keys = choices.split(",").map((each) => before + each.trim() + after);
    return { problem: "is one key, braces included", help: `write ${asCode(keys) ?? "each key"}` };
  }
  return variableIn(key) ?? severalIn(key, betweenWords);
}

/** A regular expression as a pattern of words. Undefined if it has other parts than words and their wildcards. */
export function fromExpression(key: string): string | undefined {
  const inner = key.replace(/^\/?\^?/, "").replace(/\$?(?:\/\w*)?$/, "");
  const pattern = inner.replaceAll(/\\\.|\.[*+]|\[\^\\?\.\][*+]|\\w[*+]/g, (part) =>
    part === "\\." ? "." : part.startsWith(".") ? "#" : "*",
  );
  return pattern.split(".").every((word) => /^(?:[\w-]+|[*#])$/.test(word)) ? pattern : undefined;
}

function variableIn(text: string): Literal | null {
  return /\$\{|\{\{|^\$[A-Z_]+$|^%\w+%$/.test(text)
    ? {
        problem: "stays as it is: no variable is replaced",
        help: "write the value, or declare the system in TypeScript",
      }
    : null;
}

/** A queue may have a blank in its name, and neither a key nor the name of an error has one. */
const betweenWords = /[\s,;|]+/;

function severalIn(text: string, separator: RegExp): Literal | null {
  const parts = text.split(separator).filter((each) => each !== "");
  if (parts.length > 1)
    return {
      problem: "is one text, and looks like several",
      help: `if you mean several, write ${asCode(parts) ?? "each"}`,
    };
  return parts.length === 1 && parts[0] !== text
    ? { problem: "begins or ends with a separator, which is a part of it", help: `write ${JSON.stringify(parts[0])}` }
    : null;
}
