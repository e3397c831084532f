import { type Checked, type Diagnostic, type PathSegment, accepted, diagnostic } from "../diagnostics/diagnostic.ts";

/** The bounds on foreign data. Every recursive function on checked data may rely on the depth. */
export const plainDataLimits = {
  /** A declaration has 6 levels, and the state of a stack seldom more than 30. */
  depth: 100,
  /** Texts, numbers, lists and mappings, each counted as often as it is reached: 100,000 sources are 300,000 values. */
  values: 2_000_000,
  /** All texts and keys together. */
  characters: 64_000_000,
  /** The most problems that are listed. */
  problems: 100,
} as const;

type Holder = Record<string, unknown> | unknown[];

/** A list or a mapping on the path of the walk, with the keys that remain. */
interface Level {
  readonly source: object;
  readonly target: Holder;
  readonly keys: readonly string[] | null;
  readonly length: number;
  readonly segment: PathSegment;
  at: number;
}

interface Walk {
  readonly levels: Level[];
  readonly above: Set<object>;
  readonly root: readonly PathSegment[];
  readonly problems: Diagnostic[];
  values: number;
  characters: number;
}

/** Ends the walk, which alone catches it: the rest is outside the bounds. */
class OutOfBounds extends Error {}

/**
 * Copies foreign data: the export of a stranger's module, the argument of a caller, or YAML data with aliases.
 *
 * It reads each property once and calls nothing else of a value. An object of a class, such as a Map, is no data. A getter or a Proxy may answer differently the second
 * time, throw, or never end. The walk is a loop, so that no depth overflows the stack.
 *
 * @param root the place of the data in the user's document
 * @returns null, texts, numbers, booleans, lists, mappings and undefined, without a cycle; or the reason to refuse the
 *   data (RD005, and RD111 for the key `__proto__`)
 */
export function plainData(input: unknown, root: readonly PathSegment[] = []): Checked<unknown> {
  const walk: Walk = { levels: [], above: new Set(), root, problems: [], values: 0, characters: 0 };
  let data: unknown;
  try {
    data = enter(walk, input, null);
    for (let level = walk.levels.at(-1); level !== undefined; level = walk.levels.at(-1)) next(walk, level);
  } catch (cause) {
    if (!(cause instanceof OutOfBounds)) throw cause;
  }
  return walk.problems.length === 0 ? accepted(data) : { ok: false, diagnostics: walk.problems };
}

/** Goes on to the next entry, or back up after the last one. */
function next(walk: Walk, level: Level): void {
  const { source, target, keys, length } = level;
  if (level.at >= length) {
    walk.levels.pop();
    walk.above.delete(source);
    return;
  }
  const key = keys?.[level.at] ?? level.at;
  level.at += 1;
  if (key === "__proto__") {
    // Schemas silently leave out this key, so its value would vanish.
    const place = { message: "__proto__ cannot be a name", value: "__proto__", help: "choose another name" };
    problem(walk, diagnostic("RD111", { path: pathTo(walk, key), ...place }));
    return;
  }
  const value = read(walk, key, () => {
    if (keys === null && !(key in source)) throw new Error("a hole in a list");
    return (source as Record<PathSegment, unknown>)[key];
  });
  if (value === nothing) return;
  count(walk, key, 0, typeof key === "string" ? key.length : 0);
  (target as Record<PathSegment, unknown>)[key] = enter(walk, value, key);
}

/** Creates the copy of a value. The walk fills it later. */
function enter(walk: Walk, value: unknown, segment: PathSegment | null): unknown {
  count(walk, segment, 1, typeof value === "string" ? value.length : 0);
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") {
    const help = typeof value === "function" ? insteadOf(value) : writeData;
    refuse(walk, segment, `a ${typeof value === "bigint" ? "BigInt" : typeof value} is no data`, help);
    return undefined;
  }
  if (typeof value !== "object" || value === null) return value;
  if (walk.above.has(value)) {
    refuse(walk, segment, "this contains itself", "write the value out");
    return undefined;
  }
  if (walk.levels.length === plainDataLimits.depth) {
    refuse(walk, segment, `this is nested deeper than ${plainDataLimits.depth} levels`, "declare it with fewer levels");
    throw new OutOfBounds();
  }
  const other = read(walk, segment, () => otherKindOf(value));
  if (other === nothing) return undefined;
  if (other !== undefined) {
    refuse(walk, segment, `${other} is no data`, asData[other] ?? writeData);
    return undefined;
  }
  const shape = read(walk, segment, () => (Array.isArray(value) ? Number(value.length) : Object.keys(value)));
  if (shape === nothing) return undefined;
  const isList = typeof shape === "number";
  const length = isList ? shape : shape.length;
  if (!(length <= plainDataLimits.values)) {
    refuse(walk, segment, `this has ${length.toLocaleString("en")} entries`, tooMuch);
    throw new OutOfBounds();
  }
  const target: Holder = isList ? [] : {};
  walk.levels.push({ source: value, target, keys: isList ? null : shape, length, segment: segment ?? "", at: 0 });
  walk.above.add(value);
  return target;
}

/** The edit for a function. One that is a Proxy may throw at each look. */
function insteadOf(value: { readonly prototype?: unknown; readonly name?: unknown }): string {
  try {
    if (value.prototype instanceof Error) return `write its name, "${String(value.name)}"`;
  } catch {
    // A stranger threw it, so nothing of it is read.
  }
  return "call it, or write the data itself";
}

/** Objects that hold their data elsewhere than in their keys, and the way to it. */
const asData: Readonly<Record<string, string>> = {
  "a Map": "write Object.fromEntries(…) around it",
  "a Set": "write Array.from(…) around it",
  "a Promise": "write await before it",
};

/** The kind of an object that is neither a list nor a plain mapping. A plain mapping has one prototype or none. */
function otherKindOf(value: object): string | undefined {
  const prototype: unknown = Array.isArray(value) ? null : Object.getPrototypeOf(value);
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  const kind = `a ${Object.prototype.toString.call(value).slice(8, -1)}`;
  return Object.hasOwn(asData, kind) ? kind : "an object of a class";
}

const nothing = Symbol("nothing");
const writeData = "write a text, a number, true, false, a list or a mapping";
/** Written out: to group the digits, Node would read its data about languages at each start. */
const tooMuch = "at most 2,000,000 values and 64,000,000 characters are read; divide it";

function read<Value>(walk: Walk, segment: PathSegment | null, get: () => Value): Value | typeof nothing {
  try {
    return get();
  } catch {
    // The thrown value is a stranger's too, so nothing of it is read.
    refuse(walk, segment, "this cannot be read: a hole in a list, a getter or a Proxy that throws", writeData);
    return nothing;
  }
}

function count(walk: Walk, segment: PathSegment | null, values: number, characters: number): void {
  walk.values += values;
  walk.characters += characters;
  if (walk.values <= plainDataLimits.values && walk.characters <= plainDataLimits.characters) return;
  const counted = `${walk.values.toLocaleString("en")} values and ${walk.characters.toLocaleString("en")} characters`;
  refuse(walk, segment, `up to here there are ${counted}`, tooMuch);
  throw new OutOfBounds();
}

function refuse(walk: Walk, segment: PathSegment | null, message: string, help: string): void {
  problem(walk, diagnostic("RD005", { path: pathTo(walk, segment), message, help }));
}

function problem(walk: Walk, found: Diagnostic): void {
  walk.problems.push(found);
  if (walk.problems.length === plainDataLimits.problems) throw new OutOfBounds();
}

function pathTo({ levels, root }: Walk, segment: PathSegment | null): readonly PathSegment[] {
  const above = levels.slice(1).map((level) => level.segment);
  return [...root, ...above, ...(segment === null ? [] : [segment])];
}

/**
 * Checks the depth of data from a JSON reader. Such data has neither getters nor cycles, and may be large, so it is not
 * copied.
 */
export function isShallow(data: unknown): boolean {
  const levels: { readonly values: readonly unknown[]; at: number }[] = [{ values: [data], at: 0 }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const value = level.values[level.at++];
    if (level.at > level.values.length) levels.pop();
    else if (typeof value === "object" && value !== null) {
      if (levels.length > plainDataLimits.depth) return false;
      levels.push({ values: Array.isArray(value) ? value : Object.values(value), at: 0 });
    }
  }
  return true;
}
