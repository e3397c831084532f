import { expect } from "vitest";

import { type compile, renderDiagnostics } from "../../src/index.ts";

// A golden file says what is compiled in full, or how it differs from what a sibling says in full. `vitest -u` writes them anew.

export const width = 110;

type Result = ReturnType<typeof compile>;

/** What is compiled, and the golden file that pins it. */
export interface Sibling {
  readonly file: string;
  readonly result: Result;
}

/** Pins in `<file>.json` what is compiled, in `<file>.diff` how it differs from a sibling, or in `<file>.txt` why it is refused. */
export async function expectCompiled(file: string, result: Result, sibling: Sibling | null = null): Promise<void> {
  if (!result.ok) {
    const refusal = `NOT SUPPORTED\n\n${renderDiagnostics(result.diagnostics)}\n`;
    await expect(refusal).toMatchFileSnapshot(`${file}.txt`);
  } else if (sibling === null) await expectGolden(`${file}.json`, everythingOf(result));
  else await expectDifference(file, sibling.file, differencesOf(sibling.result, result));
}

/**
 * Pins the result of one strategy for one consumer. The first case is stored in full, and each later one as the
 * difference to the earlier case, under `auto` or the same strategy, that it resembles most.
 *
 * @param folder the broker's; a file has the names of the consumer and of the strategy
 */
export async function expectStrategy<Each extends { readonly name: string; readonly strategy: string }>(
  folder: string,
  each: Each,
  cases: readonly Each[],
  outcome: (each: Each) => Result,
): Promise<void> {
  const file = ({ name, strategy }: Each): string => `${name.replaceAll(" ", "-")}-${strategy}`;
  const result = outcome(each);
  const siblings = cases
    .slice(0, cases.indexOf(each))
    .filter(({ strategy }) => ["auto", each.strategy].includes(strategy))
    .map((other) => ({ file: file(other), result: outcome(other) }));
  await expectCompiled(`${folder}/${file(each)}`, result, nearestOf(siblings, result));
}

/** The sibling whose difference to a result has the fewest lines. */
export function nearestOf(siblings: readonly Sibling[], result: Result): Sibling | null {
  if (!result.ok) return null;
  const compiled = siblings
    .filter((sibling) => sibling.result.ok)
    .map((sibling) => ({ sibling, lines: differencesOf(sibling.result, result).length }));
  return compiled.toSorted((one, other) => one.lines - other.lines)[0]?.sibling ?? null;
}

/** Pins a text in `<file>.md`, or its difference to the text of a sibling, line by line, in `<file>.diff`. */
export async function expectText(file: string, text: string, sibling: { file: string; text: string } | null) {
  if (sibling === null) await expect(text).toMatchFileSnapshot(`${file}.md`);
  else {
    const found = differences("", sibling.text.split("\n"), text.split("\n"));
    await expectDifference(file, sibling.file, together(found));
  }
}

function differencesOf(one: Result, other: Result): readonly string[] {
  return together(differences("", asData(everythingOf(one)), asData(everythingOf(other))));
}

async function expectDifference(file: string, sibling: string, found: readonly string[]): Promise<void> {
  const title = `# The difference to ${sibling.slice(sibling.lastIndexOf("/") + 1)}`;
  await expect([title, ...found, ""].join("\n")).toMatchFileSnapshot(`${file}.diff`);
}

/** Pins data in a file, or in `<file>.diff` how it differs from the data of a sibling. */
export async function expectGolden(
  file: string,
  value: unknown,
  sibling: { readonly file: string; readonly value: unknown } | null = null,
): Promise<void> {
  if (sibling !== null) {
    const found = differences("", asData(sibling.value), asData(value));
    return expectDifference(file, sibling.file, together(found));
  }
  await expect(`${layOut(shorten(asData(value))).join("\n")}\n`).toMatchFileSnapshot(file);
}

function everythingOf(result: Result): object {
  if (!result.ok) throw new Error(renderDiagnostics(result.diagnostics));
  const { promises, choices, ...rest } = result.value;
  return {
    ...rest,
    promises: promises.map(({ consumer, promise, keeper, statement, ...more }) =>
      sentence(`${consumer}, ${promise}, kept by ${keeper}: ${statement}`, more),
    ),
    choices: choices.flatMap(({ consumer, strategy, reason, passedOver, ...more }) => [
      sentence(`${consumer}, ${strategy}: ${reason}`, more),
      ...passedOver.map((other) => {
        const { strategy: passed, reason: because, ...others } = other;
        return sentence(`${consumer}, not ${passed}: ${because}`, others);
      }),
    ]),
    warnings: result.warnings.map(({ code, path, message }) => `${code} ${path}: ${message}`),
  };
}

/** A text in place of an object. A property that the text does not say would stay beside it. */
function sentence(text: string, more: object): unknown {
  return Object.keys(more).length === 0 ? text : [text, more];
}

/** One place with another value, and the values: those that go, each on a line with "- ", and those that come. */
interface Difference {
  readonly pointer: string;
  readonly lines: readonly string[];
}

/** A change that fits on a line is one. The others have a block of lines, where places in a row share a difference. */
export function together(found: readonly Difference[]): readonly string[] {
  return found.flatMap((each, index) => {
    const [before, after] = [found[index - 1], found[index + 1]];
    const short = onePlace(each);
    if (short !== null) return before !== undefined && onePlace(before) !== null ? [short] : ["", short];
    const opening = isSame(before?.lines, each.lines) ? [] : [""];
    return [...opening, each.pointer, ...(isSame(after?.lines, each.lines) ? [] : each.lines)];
  });
}

/** `<pointer>: <value> → <value>`. A dash stands for no value. */
function onePlace({ pointer, lines }: Difference): string | null {
  const [gone, come] = ["- ", "+ "].map((sign) => lines.filter((line) => line.startsWith(sign)));
  if (gone === undefined || come === undefined || gone.length > 1 || come.length > 1) return null;
  const line = `${pointer}: ${gone[0]?.slice(2) ?? "–"} → ${come[0]?.slice(2) ?? "–"}`;
  return line.length <= width ? line : null;
}

/** All differences. Each has its JSON pointer, in which a name may stand for an index, and both values. */
export function differences(pointer: string, before: unknown, after: unknown): readonly Difference[] {
  if (isSame(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    return gaps(before, after).flatMap((gap) => elementDifferences(pointer, gap, before[gap.at - 1]));
  }
  if (isObject(before) && isObject(after) && isSame(sharedKeys(before, after), sharedKeys(after, before))) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
      const inner = `${pointer}/${escape(key)}`;
      if (!(key in after)) return changed(inner, [before[key]], []);
      return key in before ? differences(inner, before[key], after[key]) : changed(inner, [], [after[key]]);
    });
  }
  return changed(pointer, [before], [after]);
}

interface Gap<Value> {
  readonly at: number;
  readonly before: readonly Value[];
  readonly after: readonly Value[];
}

/** Objects that stand for each other, if as many go as come. Else those that come may resemble the one above them. */
function elementDifferences(pointer: string, { at, before, after }: Gap<unknown>, above: unknown) {
  const areTexts = [...before, ...after].every((each) => typeof each === "string");
  if (before.length !== after.length || areTexts) return changed(`${pointer}/${at}`, before, after, above);
  return before.flatMap((value, index) => {
    const name = isObject(value) && typeof value["name"] === "string" ? value["name"] : String(at + index);
    return differences(`${pointer}/${escape(name)}`, value, after[index]);
  });
}

/** The runs of elements that only one of the lists has, between those that a longest common subsequence keeps. */
export function gaps<Value>(before: readonly Value[], after: readonly Value[]): readonly Gap<Value>[] {
  const kept = commonLengths(before, after);
  const found: Gap<Value>[] = [];
  let [i, j, start] = [0, 0, [0, 0] as readonly [number, number]];
  const close = (): void => {
    if (i > start[0] || j > start[1]) {
      found.push({ at: start[0], before: before.slice(start[0], i), after: after.slice(start[1], j) });
    }
  };
  while (i < before.length && j < after.length) {
    if (isSame(before[i], after[j])) {
      close();
      [i, j] = [i + 1, j + 1];
      start = [i, j];
    } else if ((kept[i + 1]?.[j] ?? 0) >= (kept[i]?.[j + 1] ?? 0)) i += 1;
    else j += 1;
  }
  [i, j] = [before.length, after.length];
  close();
  return found;
}

function commonLengths(before: readonly unknown[], after: readonly unknown[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: before.length + 1 }, () => Array.from(after, () => 0));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const skipped = Math.max(lengths[i + 1]?.[j] ?? 0, lengths[i]?.[j + 1] ?? 0);
      lengths[i]![j] = isSame(before[i], after[j]) ? (lengths[i + 1]?.[j + 1] ?? 0) + 1 : skipped;
    }
  }
  return lengths;
}

/** The sibling's file has the earlier values in full, so one line is enough to recognize each of them. */
function changed(
  pointer: string,
  before: readonly unknown[],
  after: readonly unknown[],
  above?: unknown,
): readonly Difference[] {
  const removed = before.map((value) => `- ${onOneLine(value)}`);
  const cut = removed.map((line) => (line.length <= width ? line : `${line.slice(0, width - 2)} …`));
  const added = shortenAll([above, ...after])
    .slice(1)
    .flatMap((value) => layOut(value).map((line) => `+ ${line}`));
  return [{ pointer, lines: [...cut, ...added] }];
}

/**
 * The value without repetitions. An object that resembles one before it, in its list or object, keeps only the
 * properties that differ, beside `"as": "above"`, or beside the key of that object. `"without"` lists the properties
 * that it lacks. A list is compared element by element with the list in its place. `"for 1s": "2s, 4s"` stands for two
 * objects with another word everywhere in place of `1s`.
 *
 * @param like the value to compare with, if there is one, and its name in the file
 */
export function shorten(value: unknown, like?: Like): unknown {
  if (Array.isArray(value)) {
    const other = Array.isArray(like?.value) ? like.value : [];
    return value.flatMap((each, index) => {
      const series = seriesAt(value, index);
      if (series !== null) return series;
      if (index < other.length) return [shorten(each, { name: like!.name, value: other[index] })];
      return [shorten(each, index === 0 ? undefined : { name: "above", value: value[index - 1] })];
    });
  }
  if (!isObject(value)) return value;
  if (isObject(like?.value)) {
    const short = onlyDiffering(value, { name: like.name, value: like.value });
    if (layOut(short).length < layOut(value).length) return short;
  }
  const keys = Object.keys(value);
  return Object.fromEntries(
    keys.map((key, index) => [key, shortest(value[key], earlier(value, keys.slice(0, index)))]),
  );
}

/** A list in which each series of objects is its first object and one entry for all others. */
export function seriesIn(list: readonly unknown[]): readonly unknown[] {
  return list.flatMap((each, index) => seriesAt(list, index) ?? [each]);
}

/**
 * If an element and its neighbours differ in one word only: their series, at the first of them, and nothing at the
 * others. Null for an element of no series.
 */
function seriesAt(list: readonly unknown[], index: number): readonly object[] | null {
  const words = (at: number): readonly [string, string] | null => otherWord(list[at - 1], list[at]);
  const own = words(index);
  if (own === null) return null;
  if (index > 1 && words(index - 1)?.[1] === own[0]) return [];
  const series = [own[1]];
  for (let at = index + 1; words(at)?.[0] === series.at(-1); at++) series.push(words(at)![1]);
  return series.length === 1 ? null : [{ as: "above", [`for ${own[0]}`]: series.join(", ") }];
}

/** The one word by which two objects differ, in both, if it differs everywhere. */
function otherWord(before: unknown, after: unknown): readonly [string, string] | null {
  if (!isObject(before) || !isObject(after)) return null;
  const [one, other] = [JSON.stringify(before), JSON.stringify(after)];
  const start = [...one].findIndex((letter, index) => letter !== other[index]);
  for (const word of [/[a-z0-9]/i, /\d/]) {
    const wordAt = (text: string): string => {
      let [from, to] = [start, start];
      while (from > 0 && word.test(text[from - 1] ?? "")) from--;
      while (word.test(text[to] ?? "")) to++;
      return text.slice(from, to);
    };
    const [from, to] = [wordAt(one), wordAt(other)];
    if (start !== -1 && from !== "" && to !== "" && one.replaceAll(from, to) === other) return [from, to];
  }
  return null;
}

interface Like<Value = unknown> {
  readonly name: string;
  readonly value: Value;
}

function onlyDiffering(value: Record<string, unknown>, like: Like<Record<string, unknown>>): object {
  const words = otherWord(like.value, value);
  const without = Object.keys(like.value).filter((key) => !(key in value));
  const differing = Object.entries(value).filter(([key, each]) => !isSame(each, like.value[key]));
  const short = {
    as: like.name,
    ...(without.length === 0 ? {} : { without }),
    ...Object.fromEntries(
      differing.map(([key, each]) => [key, shorten(each, { name: like.name, value: like.value[key] })]),
    ),
  };
  if (words === null || layOut(short).length === 1) return short;
  return { as: like.name, [`for ${words[0]}`]: words[1] };
}

/** The properties before one, the nearest first. A list is none: other properties hold other lists. */
function earlier(value: Record<string, unknown>, keys: readonly string[]): readonly Like[] {
  const objects = keys.filter((key) => isObject(value[key]));
  return objects.toReversed().map((key) => ({ name: key === keys.at(-1) ? "above" : key, value: value[key] }));
}

function shortest(value: unknown, candidates: readonly Like[]): unknown {
  const all = isObject(value) ? candidates.map((like) => shorten(value, like)) : [];
  return [...all, shorten(value)].reduce((one, other) => (layOut(other).length < layOut(one).length ? other : one));
}

function shortenAll(list: readonly unknown[]): readonly unknown[] {
  return shorten(list) as readonly unknown[];
}

/** JSON with as much on a line as fits, so that a resource is a line or a few. */
function layOut(value: unknown): readonly string[] {
  const line = onOneLine(value);
  if (line.length <= width || typeof value !== "object" || value === null) return [line];
  const isList = Array.isArray(value);
  const parts = Object.entries(asData(value) as object).map(([key, each]) => {
    const [first = "", ...rest] = layOut(each);
    return [isList ? first : `${JSON.stringify(key)}: ${first}`, ...rest];
  });
  const inner = parts.flatMap((lines, index) => {
    const last = index === parts.length - 1 ? "" : ",";
    return lines.map((text, at) => `  ${text}${at === lines.length - 1 ? last : ""}`);
  });
  return isList ? ["[", ...inner, "]"] : ["{", ...inner, "}"];
}

function onOneLine(value: unknown): string {
  return JSON.stringify(value, null, 1).replaceAll(/\n */g, " ");
}

/** As it comes back from JSON: a property that is undefined is none. */
function asData(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function sharedKeys(one: object, other: object): readonly string[] {
  return Object.keys(one).filter((key) => key in other);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function escape(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
