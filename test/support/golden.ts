import { expect } from "vitest";

import type { compile } from "../../src/index.ts";
import { renderDiagnostics } from "../../src/index.ts";

// A golden file says what is compiled in full, or how it differs from what a sibling says in full. `vitest -u` writes them anew.

const width = 110;

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
  else {
    const found = differences("", asData(everythingOf(sibling.result)), asData(everythingOf(result)));
    await expectDifference(file, sibling.file, found);
  }
}

/**
 * Pins the result of each strategy for each consumer. The file of the first consumer under `auto` is complete. The other
 * consumers' `auto` is stored as the difference to it, and every other strategy as the difference to `auto`.
 *
 * @param folder the broker's; a file has the names of the consumer and of the strategy
 */
export async function expectStrategy<Name extends string, Strategy extends string>(
  folder: string,
  { name, strategy, first }: { readonly name: Name; readonly strategy: Strategy; readonly first: Name },
  outcome: (name: NoInfer<Name>, strategy: NoInfer<Strategy> | "auto") => Result,
): Promise<void> {
  const file = (of: string): string => `${of.replaceAll(" ", "-")}-`;
  const like = strategy === "auto" ? first : name;
  const isFirst = strategy === "auto" && name === first;
  const sibling = isFirst ? null : { file: `${file(like)}auto`, result: outcome(like, "auto") };
  await expectCompiled(`${folder}/${file(name)}${strategy}`, outcome(name, strategy), sibling);
}

/** Pins a text in `<file>.md`, or its difference to the text of a sibling, line by line, in `<file>.diff`. */
export async function expectText(
  file: string,
  text: string,
  sibling: { file: string; text: string } | null,
): Promise<void> {
  if (sibling === null) await expect(text).toMatchFileSnapshot(`${file}.md`);
  else await expectDifference(file, sibling.file, differences("", sibling.text.split("\n"), text.split("\n")));
}

async function expectDifference(file: string, sibling: string, found: readonly string[]): Promise<void> {
  const title = `# The difference to ${sibling.slice(sibling.lastIndexOf("/") + 1)}`;
  await expect([title, ...together(found), ""].join("\n")).toMatchFileSnapshot(`${file}.diff`);
}

export async function expectGolden(file: string, value: unknown): Promise<void> {
  await expect(`${layOut(shorten(asData(value))).join("\n")}\n`).toMatchFileSnapshot(file);
}

function everythingOf(result: Result): object {
  if (!result.ok) throw new Error(renderDiagnostics(result.diagnostics));
  const warnings = result.warnings.map(({ code, path, message }) => `${code} ${path}: ${message}`);
  return { ...result.value, warnings };
}

/** Names the places of one difference in a row before it, so that a change to twenty queues is there once. */
export function together(found: readonly string[]): readonly string[] {
  if (found.length === 0) return [];
  const each = found
    .join("\n")
    .split("\n\n")
    .map((text) => text.replace(/^\n/, "").split("\n"));
  return each.flatMap(([pointer = "", ...lines], index) => {
    const [, ...before] = each[index - 1] ?? [];
    const [, ...after] = each[index + 1] ?? [];
    const opening = index > 0 && isSame(before, lines) ? [] : [""];
    return [...opening, pointer, ...(isSame(after, lines) && index < each.length - 1 ? [] : lines)];
  });
}

/** The lines of all differences. Each has its JSON pointer, in which a name may stand for an index, and then both values. */
export function differences(pointer: string, before: unknown, after: unknown): readonly string[] {
  if (isSame(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    return gaps(before, after).flatMap((gap) => elementDifferences(pointer, gap));
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

interface Gap {
  readonly at: number;
  readonly before: readonly unknown[];
  readonly after: readonly unknown[];
}

/** Elements that stand for each other, if as many go as come. */
function elementDifferences(pointer: string, { at, before, after }: Gap): readonly string[] {
  if (before.length !== after.length) return changed(`${pointer}/${at}`, before, after);
  return before.flatMap((value, index) => {
    const name = isObject(value) && typeof value["name"] === "string" ? value["name"] : String(at + index);
    return differences(`${pointer}/${escape(name)}`, value, after[index]);
  });
}

/** The runs of elements that only one of the lists has, between those that a longest common subsequence keeps. */
function gaps(before: readonly unknown[], after: readonly unknown[]): readonly Gap[] {
  const kept = commonLengths(before, after);
  const found: Gap[] = [];
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
function changed(pointer: string, before: readonly unknown[], after: readonly unknown[]): readonly string[] {
  const removed = before.map((value) => `- ${onOneLine(value)}`);
  const cut = removed.map((line) => (line.length <= width ? line : `${line.slice(0, width - 2)} …`));
  const added = shortenAll(after).flatMap((value) => layOut(value).map((line) => `+ ${line}`));
  return ["", pointer, ...cut, ...added];
}

/**
 * The value without repetitions. An object that resembles the one before it, in its list or object, keeps only the
 * properties that differ, beside `"as": "above"`. Lists of one length are compared element by element.
 *
 * @param above the value that stands in this value's place one before, if there is one
 */
export function shorten(value: unknown, above?: unknown): unknown {
  if (Array.isArray(value)) {
    if (!Array.isArray(above) || above.length !== value.length) return shortenAll(value);
    return value.map((each, index) => shorten(each, above[index]));
  }
  if (!isObject(value)) return value;
  if (isObject(above) && isSame(Object.keys(value), Object.keys(above))) {
    const differing = Object.entries(value).filter(([key, each]) => !isSame(each, above[key]));
    const short = {
      as: "above",
      ...Object.fromEntries(differing.map(([key, each]) => [key, shorten(each, above[key])])),
    };
    if (layOut(short).length < layOut(value).length) return short;
  }
  const keys = Object.keys(value);
  return Object.fromEntries(
    keys.map((key, index) => [key, shorten(value[key], index === 0 ? undefined : value[keys[index - 1]!])]),
  );
}

function shortenAll(list: readonly unknown[]): readonly unknown[] {
  return list.map((value, index) => (index === 0 ? shorten(value) : shorten(value, list[index - 1])));
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
