import { expect, test } from "vitest";

import { locateIn } from "../../src/declare/locate.ts";
import { parseText } from "../../src/declare/parse.ts";

/** Returns the underlined text and its start. These are cases that `test/property/locate.test.ts` does not draw. */
function place(text: string, path: string, format: "json" | "yaml" = "yaml"): string | undefined {
  const region = locateIn(text, format)(path);
  if (region === undefined) return undefined;
  const line = text.split(/\r?\n/)[region.line - 1] ?? "";
  return `${region.line}:${region.column} ${line.slice(region.column - 1, region.endColumn - 1)}`;
}

const written = `name: shop
defaults: &defaults { attempts: 0 }
consumers:
  "a.b":
    retry: *defaults
    notes: |
      several
      lines
    from:
      orders:
        - order.placed
        - { key: 1 }
      nothing:
  7: seven
  ? [odd]
  : key
  null: none
`;

test.for([
  ["a value below an alias is at the anchor", 'consumers["a.b"].retry.attempts', "2:33 0"],
  ["an alias", 'consumers["a.b"].retry', "2:21 { attempts: 0 }"],
  ["a value on several lines is left to its key", 'consumers["a.b"].notes', "6:5 notes"],
  ["a block is left to its key", 'consumers["a.b"]', '4:3 "a.b"'],
  ["an entry of a list", 'consumers["a.b"].from.orders[0]', "11:11 order.placed"],
  ["an entry that is not there", 'consumers["a.b"].from.orders[7]', "10:7 orders"],
  ["a key that is not in an entry", 'consumers["a.b"].from.orders[1].x', "12:11 { key: 1 }"],
  ["a key without a value", 'consumers["a.b"].from.nothing', "13:7 nothing"],
  ["below a key without a value", 'consumers["a.b"].from.nothing.kind', "13:7 nothing"],
  ["below a text", "name.x.y", "1:1 name"],
  ["a number as a key", 'consumers["7"]', "14:6 seven"],
  ["a list as a key is not looked for", 'consumers["[ odd ]"]', "3:1 consumers"],
  ["null as a key", 'consumers[""]', "17:9 none"],
  ["a value outside the document", "target.version", undefined],
  ["the whole of it", "", undefined],
] as const)("%s", ([, path, expected]) => {
  expect(place(written, path)).toBe(expected);
});

test.for([
  ["a key given twice", "yaml", "name: a\nname: b\n", "2:1"],
  ["an indentation that is off", "yaml", "a:\n  - b\n c: d", "3:1"],
  ["two documents", "yaml", "name: a\n---\nname: b\n", "2:1"],
  ["JSON with a comma too many", "json", '{\n  "name": "shop",\n}\n', "3:1"],
  ["JSON with a comment", "json", '{\n  "name": "shop" // no\n}\n', "2:18"],
  ["JSON with a key given twice", "json", '{\n  "name": "a",\n  "name": "b"\n}\n', "3:3"],
] as const)("%s is not well-formed, and is located at its end", ([, format, text, expected]) => {
  expect(parseText(text, format)).toMatchObject({ ok: false, diagnostics: [{ code: "RD002", path: "" }] });
  expect(place(text, "", format)?.split(" ")[0]).toBe(expected);
});

test.for([
  ["an empty file", "yaml", ""],
  ["nothing but a comment", "yaml", "# nothing yet\n"],
  ["a text", "yaml", "just a text", "1:1 just a text"],
  ["a list", "json", "[1]", "1:1 [1]"],
] as const)("%s has no place for a missing value", ([, format, text, whole]) => {
  expect([place(text, "", format), place(text, "name", format)]).toEqual([whole, undefined]);
});

test("if the message names a line and a column, the place is the same", () => {
  for (const [format, text] of [
    ["json", '{\n  "name": "shop" "own"\n}\n'],
    ["yaml", "name: a\nname: b\n"],
    ["yaml", "a: [1, 2\nb: 3\n"],
    ["yaml", "a: 'text\n"],
  ] as const) {
    const parsed = parseText(text, format);
    const [, line, column] =
      /line (\d+),? column (\d+)/.exec(parsed.ok ? "" : (parsed.diagnostics[0]?.message ?? "")) ?? [];
    expect(line).toBeDefined();
    expect(locateIn(text, format)("")).toMatchObject({ line: Number(line), column: Number(column) });
  }
});

test("multiplying aliases are followed only along a path", () => {
  const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"];
  for (let index = 1; index < 30; index++)
    bomb.push(`k${index}: &k${index} [*${index === 1 ? "a" : `k${index - 1}`}, 1]`);
  expect(place(`${bomb.join("\n")}\n`, `k29${"[0]".repeat(29)}[3]`)).toBe("1:14 x");
});
