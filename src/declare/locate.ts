import type { Document, Node } from "yaml";
import { isAlias, isCollection, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";

import type { PathSegment } from "../diagnostics/diagnostic.ts";
import type { Locate, Region } from "../diagnostics/region.ts";
import { duplicateInYaml } from "./duplicate-key.ts";

/** A value of the document, and its key. */
interface Place {
  readonly key: Node | null;
  readonly value: Node | null;
}
/** The start and the end of a part of the text. */
type Range = readonly [start: number, end: number];
/** The values of a mapping by their keys. Each mapping is read only once, since it may hold thousands of consumers. */
type Children = Map<Node, ReadonlyMap<string | undefined, Place>>;

/**
 * Finds the places in a JSON or YAML declaration that diagnostics point to.
 *
 * The text is read once, on the first question, because most declarations are fine.
 *
 * @returns for a path from `formatPath`, the value there if it is on one line, or else its key. For a missing value, it
 *   is the key of its mapping. For a text that is not well-formed, it is the place of the error. Undefined for a value
 *   that is missing at the top, and for a whole document of several lines.
 */
export function locateIn(text: string, format: "json" | "yaml"): Locate {
  let find: ((path: string) => Range | undefined) | undefined;
  const lines = new LineCounter();
  return (path) => {
    find ??= findOrNot(text, format, lines);
    const range = find(path);
    return range === undefined ? undefined : regionOf(text, lines, range);
  };
}

/** The longest text to look for places in. The tree of a longer one would take more time than all the rest. */
const longestText = 2_000_000;

function findOrNot(text: string, format: "json" | "yaml", lines: LineCounter): ReturnType<typeof findIn> {
  if (text.length > longestText) return () => undefined;
  try {
    return findIn(text, format, lines);
  } catch (cause) {
    // The reader calls itself for each level, and the parser refused the text because it has too many.
    if (!(cause instanceof RangeError)) throw cause;
    return () => undefined;
  }
}

function findIn(text: string, format: "json" | "yaml", lineCounter: LineCounter): (path: string) => Range | undefined {
  const document = parseDocument(text, {
    uniqueKeys: false,
    prettyErrors: false,
    version: "1.2",
    merge: true,
    lineCounter,
  });
  const broken = (format === "json" ? brokenJson(text, lineCounter) : undefined) ?? document.errors[0]?.pos;
  if (broken !== undefined) return () => broken;
  const duplicate = duplicateInYaml(document);
  if (duplicate !== null) return () => [duplicate, duplicate + 1];

  const children: Children = new Map();
  return (path) => {
    let place: Place = { key: null, value: document.contents };
    for (const segment of parsePath(path)) {
      const next = childOf(resolve(document, place), segment, children);
      if (next === undefined) return keyRange(place, document);
      place = next;
    }
    return valueRange(resolve(document, place), text) ?? keyRange(place, document);
  };
}

/** The place where `JSON.parse` fails. In most cases its message names it. */
function brokenJson(text: string, lines: LineCounter): Range | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (cause) {
    const match = /\(line (\d+) column (\d+)\)/.exec((cause as Error).message);
    const start = (lines.lineStarts[Number(match?.[1]) - 1] ?? Number.NaN) + Number(match?.[2]) - 1;
    return Number.isNaN(start) ? undefined : [start, start + 1];
  }
}

/** The steps of a path, the inverse of `formatPath`. A text that is no path gives steps that exist in no document. */
export function parsePath(path: string): PathSegment[] {
  const steps = path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([^.[]+)/gu);
  return [...steps].map(([, index, quoted, word]) =>
    index === undefined ? (quoted === undefined ? (word ?? "") : (JSON.parse(quoted) as string)) : Number(index),
  );
}

function childOf(node: Node | null, segment: PathSegment, children: Children): Place | undefined {
  if (isSeq(node)) {
    const item = typeof segment === "number" ? node.items[segment] : undefined;
    return item === undefined ? undefined : { key: null, value: isNode(item) ? item : null };
  }
  if (!isMap(node)) return undefined;
  let places = children.get(node);
  if (places === undefined) {
    places = new Map<string | undefined, Place>(
      node.items.map(({ key, value }) => [
        // A null key counts as the empty name, as in `toJS`. A key that is itself a list or a mapping is ignored.
        isScalar(key) ? String(key.value ?? "") : undefined,
        { key: isNode(key) ? key : null, value: isNode(value) ? value : null },
      ]),
    );
    children.set(node, places);
  }
  return places.get(String(segment));
}

/** An alias stands for the value at its anchor, so the mistake is there. */
function resolve(document: Document, { value }: Place): Node | null {
  return isAlias(value) ? (value.resolve(document) ?? null) : value;
}

/** A value on one line. For a longer one the key is underlined instead, so that no editor underlines half a file. */
function valueRange(value: Node | null, text: string): Range | undefined {
  const [start, end] = value?.range ?? [0, 0];
  const isBlock = isCollection(value) && value.flow !== true;
  return start === end || isBlock || text.slice(start, end).includes("\n") ? undefined : [start, end];
}

/** The key, or the beginning of an entry in a list. The whole document has neither. */
function keyRange({ key, value }: Place, document: Document): Range | undefined {
  const range = key?.range ?? (value === document.contents ? undefined : value?.range);
  return range === undefined || range === null ? undefined : [range[0], range[1]];
}

/** Converts to lines and columns, and cuts at the end of the first line. */
function regionOf(text: string, lines: LineCounter, [start, end]: Range): Region {
  const { line, col } = lines.linePos(start);
  const rest = /^[^\r\n]*/.exec(text.slice(start, Math.max(start, end)))?.[0] ?? "";
  return { line, column: col, endLine: line, endColumn: col + rest.length };
}
