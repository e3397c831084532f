import fc from "fast-check";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";

import { locateIn, parsePath } from "../../src/declare/locate.ts";
import { formatPath, type PathSegment } from "../../src/diagnostics/diagnostic.ts";
import type { Region } from "../../src/diagnostics/region.ts";
import { anySystem } from "../support/arbitraries.ts";
import { forAll } from "../support/for-all.ts";

/** The paths to every value in a declaration: leaves, mappings and lists. */
function pathsOf(value: unknown, path: readonly PathSegment[] = []): (readonly PathSegment[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const entries: [PathSegment, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.flatMap(([key, each]) => pathsOf(each, [...path, key]))];
}

/** The same data with another value at one path. */
function replaced(data: unknown, [first, ...rest]: readonly PathSegment[], value: unknown): unknown {
  if (first === undefined) return value;
  const copy = (Array.isArray(data) ? [...data] : { ...(data as object) }) as Record<PathSegment, unknown>;
  copy[first] = replaced(copy[first], rest, value);
  return copy;
}

/** The text that an editor would underline for a region. */
function underlined(text: string, region: Region | undefined): string | undefined {
  if (region === undefined) return undefined;
  expect(region.endLine).toBe(region.line);
  return text.split(/\r?\n/)[region.line - 1]?.slice(region.column - 1, region.endColumn - 1);
}

const anyBroken = fc.oneof(
  fc.integer(),
  // JSON has no negative zero.
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((each) => !Object.is(each, -0)),
  fc.boolean(),
  fc.constant(null),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("😀 # no comment", "a: b", "*", "&a", "- x", "'", '"', "%", " ", "null", "0x1F", "~"),
);

/** The ways in which a user may write the same data. */
const anyText = fc.record({
  format: fc.constantFrom("json" as const, "yaml" as const),
  indent: fc.constantFrom(2, 4),
  isFlow: fc.boolean(),
  quotes: fc.constantFrom("PLAIN" as const, "QUOTE_DOUBLE" as const, "QUOTE_SINGLE" as const),
  newline: fc.constantFrom("\n", "\r\n"),
});
function write(data: unknown, how: typeof anyText extends fc.Arbitrary<infer How> ? How : never): string {
  const text =
    how.format === "json"
      ? `\n${JSON.stringify(data, null, how.isFlow ? 0 : how.indent)}\n`
      : `# 😀\n---\n${stringify(data, {
          indent: how.indent,
          lineWidth: 0,
          collectionStyle: how.isFlow ? "flow" : "block",
          defaultStringType: how.quotes,
          defaultKeyType: how.isFlow ? how.quotes : "PLAIN",
        })}# the end\n`;
  return text.replaceAll("\n", how.newline);
}

const anyPlace = anySystem.chain((system) =>
  fc.record({
    system: fc.constant(system),
    path: fc.constantFrom(...pathsOf(system).filter((path) => path.length > 0)),
    how: anyText,
  }),
);

test("the place of a broken value is that value, in any form of the declaration", () => {
  forAll(500, [anyPlace, anyBroken], ({ system, path, how }, broken) => {
    const text = write(replaced(system, path, broken), how);
    const found = underlined(text, locateIn(text, how.format)(formatPath(path)));
    expect(parse(found ?? "missing")).toEqual(broken);
  });
});

test("the place is the broken value and not an equal one", () => {
  forAll(100, [anyPlace], ({ system, path, how }) => {
    const text = write(replaced(system, path, "here and nowhere else"), how);
    const region = locateIn(text, how.format)(formatPath(path));
    const before = text.split("here and nowhere else")[0]?.split(/\r?\n/) ?? [];
    expect(region?.line).toBe(before.length);
    const isQuoted = underlined(text, region) !== "here and nowhere else";
    expect((region?.column ?? 0) - 1).toBe((before.at(-1)?.length ?? 0) - (isQuoted ? 1 : 0));
  });
});

test("the place of a missing value is the key of its mapping", () => {
  forAll(100, [anyPlace, fc.string({ minLength: 1 })], ({ system, path, how }, name) => {
    const text = write(system, how);
    const locate = locateIn(text, how.format);
    const key = path.at(-1);
    const missing = formatPath([...path, `missing ${name}`, 3, "below"]);
    const found = underlined(text, locate(missing));
    // An entry of a list has no key, so its region is the entry itself.
    expect(found).toBeDefined();
    if (typeof key === "string") expect(parse(found ?? "")).toBe(key);
    expect(locate(formatPath([`missing ${name}`]))).toBeUndefined();
  });
});

test("a path is read back as it was written", () => {
  forAll(
    100,
    [fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.nat(), fc.constantFrom("a-b", "$", "0")))],
    (path) => {
      expect(parsePath(formatPath(path))).toEqual(path);
    },
  );
});
