import type { Document, Node } from "yaml";
import { isAlias, isCollection, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";

import type { PathSegment } from "../diagnostics/diagnostic.ts";
import type { Locate, Region } from "../diagnostics/region.ts";

/** A value of the document, and the key that it stands under. */
interface Place {
  readonly key: Node | null;
  readonly value: Node | null;
}
/** From where to where in the text. */
type Range = readonly [start: number, end: number];
/** The values of a mapping by their keys. Mappings are looked through once, since one may hold thousands of consumers. */
type Children = Map<Node, ReadonlyMap<string | undefined, Place>>;

/**
 * Finds the places of a JSON or YAML declaration that diagnostics are about.
 *
 * The text is read once, when the first place is asked for: most declarations are fine.
 *
 * @returns for a path as `formatPath` writes it the value there, where it stands on one line, or else its key; for what
 *   is missing the key of what it is missing from; for a text that is not well-formed the place where it breaks off.
 *   Undefined for what is missing at the top, and for the whole of a document of several lines.
 */
export function locateIn(text: string, format: "json" | "yaml"): Locate {
  let find: ((path: string) => Range | undefined) | undefined;
  const lines = new LineCounter();
  return (path) => {
    find ??= findIn(text, format, lines);
    const range = find(path);
    return range === undefined ? undefined : regionOf(text, lines, range);
  };
}

function findIn(text: string, format: "json" | "yaml", lineCounter: LineCounter): (path: string) => Range | undefined {
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: false, version: "1.2", lineCounter });
  const broken = (format === "json" ? brokenJson(text, lineCounter) : undefined) ?? document.errors[0]?.pos;
  if (broken !== undefined) return () => broken;

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

/** Where `JSON.parse` gives up, which its message says in most cases. */
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

/** The steps of a path, the inverse of `formatPath`. What is no path has no steps that any document knows. */
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
        // Null is the name of nothing, as in `toJS`. A key that is itself a list or a mapping is not looked for.
        isScalar(key) ? String(key.value ?? "") : undefined,
        { key: isNode(key) ? key : null, value: isNode(value) ? value : null },
      ]),
    );
    children.set(node, places);
  }
  return places.get(String(segment));
}

/** An alias stands for the value that its anchor is on, so that is where the mistake is. */
function resolve(document: Document, { value }: Place): Node | null {
  return isAlias(value) ? (value.resolve(document) ?? null) : value;
}

/** A value on one line. A longer one and a block are left to their key: nobody wants half a file underlined. */
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

/** Lines and columns, cut at the end of the first line. */
function regionOf(text: string, lines: LineCounter, [start, end]: Range): Region {
  const { line, col } = lines.linePos(start);
  const rest = /^[^\r\n]*/.exec(text.slice(start, Math.max(start, end)))?.[0] ?? "";
  return { line, column: col, endLine: line, endColumn: col + rest.length };
}
