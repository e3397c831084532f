import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { diagnostic } from "../../src/diagnostics/diagnostic.ts";
import { paintFor } from "../../src/diagnostics/paint.ts";
import { renderDiagnostics } from "../../src/diagnostics/render.ts";
import { printableJson, visible } from "../../src/diagnostics/visible.ts";
import { forAll } from "../support/for-all.ts";
import { runCommand, type Said } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("hostile");
const shop = resolve(import.meta.dirname, "../../examples/shop.yaml");
const target = ["--target", "rabbitmq@4.3"];

/**
 * Drives a terminal, ends a line, forges an annotation, hides or turns text. Each character may stand in a file's name.
 */
const hostile =
  "a\u001B[31m\u001B]0;t\u0007b\u009B31mc\u202Ed\u2066e\u200Bf\u200Dg\u2060h\uFEFFi\u{E0041}j\u2028k\u00ADl\u061Cm\uD800n\r\n::error::forged\n\u001B[1mbold\u007F\tz";
const pieces = [...hostile.matchAll(/[\P{L}]/gu)].map(([piece]) => piece);
const anyHostile = fc
  .array(fc.oneof(fc.constantFrom(...pieces, "\u001B[32m", "::error::", "a", "b"), fc.string({ unit: "binary" })), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join(""));

const unfit = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/u;

const escape = "\u001B";
const ownColours = new RegExp(`${escape}\\[(?:[0-9]|2[2-9]|3[0-9])m`, "g");

/** The first invisible or control character of an output, apart from line ends and our own colours. */
function unfitIn(text: string, isColoured: boolean): string | null {
  const plain = isColoured ? text.replaceAll(ownColours, "") : text;
  return unfit.exec(plain.replaceAll("\n", ""))?.[0] ?? null;
}

function expectFit({ out, error }: Said, what: unknown, isColoured = false): void {
  for (const text of [out, error]) {
    expect(unfitIn(text, isColoured), JSON.stringify(what)).toBeNull();
    expect(text, JSON.stringify(what)).not.toMatch(/^::error::/m);
  }
}

function file(name: string, text: string): string {
  const place = join(folder, name);
  writeFileSync(place, text);
  return place;
}

/** Declarations with this text in each place that takes one. */
function declarations(text: string): readonly unknown[] {
  const consumer = { from: { orders: "all" }, retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } } };
  const fine = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: consumer } };
  return [
    { ...fine, name: text },
    { ...fine, [text]: text },
    { ...fine, sources: { [text]: { kind: "topic" } } },
    { ...fine, sources: { orders: { kind: text } } },
    { ...fine, consumers: { [text]: consumer } },
    { ...fine, consumers: { billing: { ...consumer, from: { [text]: "all" } } } },
    { ...fine, consumers: { billing: { ...consumer, from: { orders: [text] } } } },
    { ...fine, consumers: { billing: { ...consumer, errors: { permanent: [text] } } } },
    { ...fine, consumers: { billing: { ...consumer, retry: { attempts: 3, backoff: { kind: text } } } } },
    { ...fine, consumers: { billing: { ...consumer, handlerTimeout: text } } },
  ];
}

const outputs: readonly (readonly string[])[] = [
  ["plan"],
  ["plan", "--json"],
  ...["json", "definitions"].map((format) => ["compile", ...target, "--format", format]),
  ["compile", "--target", "sqs@eu-west-1", "--format", "aws-json"],
  ["compile", "--target", "servicebus@standard", "--json"],
  ...["text", "json", "sarif", "github"].map((format) => ["check", ...target, "--format", format]),
  ...["mermaid", "dot", "svg"].map((format) => ["graph", ...target, "--format", format]),
  ["simulate", ...target],
  ["leftovers", ...target, "--definitions", shop],
  ...["text", "json", "sarif", "github", "markdown"].map((format) => ["diff", shop, ...target, "--format", format]),
];

describe("texts of a declaration never reach an output unescaped", () => {
  const all = declarations(hostile).map((declared, index) => file(`d${index}.json`, JSON.stringify(declared)));
  test.for(outputs)("%j", async ([command = "", ...options]) => {
    for (const each of all) expectFit(await runCommand([command, each, ...options]), [command, each, options]);
  });

  test("contract, by the name of the consumer", async () => {
    for (const each of all) {
      for (const option of [[], ["--json"], ["--markdown"]])
        expectFit(await runCommand(["contract", each, hostile, ...target, ...option]), [each, option]);
    }
  });

  test("the files of a report", async () => {
    for (const declared of all) {
      const place = join(folder, "report");
      expectFit(await runCommand(["report", declared, ...target, "--output", place]), declared);
      const written = existsSync(place) ? readdirSync(place, { recursive: true, withFileTypes: true }) : [];
      for (const each of written.filter((entry) => entry.isFile()))
        expect(unfitIn(readFileSync(join(each.parentPath, each.name), "utf8"), false)).toBeNull();
      rmSync(place, { recursive: true, force: true });
    }
  });
});

describe("texts of the command line never reach an output unescaped", () => {
  const cases: readonly (readonly string[])[] = [
    [hostile],
    ["plan", hostile],
    ["plan", `${hostile}.yaml`],
    ["plan", shop, `--${hostile}`],
    ["plan", shop, hostile],
    ["explain", hostile],
    ["compile", shop, "--target", hostile],
    ["compile", shop, "--target", `${hostile}.yaml`],
    ["compile", shop, ...target, "--strategy", hostile],
    ["compile", shop, ...target, "--format", hostile],
    ["compile", shop, ...target, "--vhost", hostile, "--format", "definitions"],
    ["compile", shop, ...target, "--output", `/dev/null/${hostile}`],
    ["contract", shop, hostile, ...target],
    ["simulate", shop, ...target, "--scenario", `${hostile}.yaml`],
    ["simulate", shop, ...target, "--seed", hostile],
    ["audit", "--definitions", hostile],
    ["audit", "--url", `http://${hostile}`],
    ["audit", "--stack", shop, "--as-version", hostile],
    ["policy", "--preview", hostile],
    ["policy", "--preview", shop, "--config", hostile],
    ["policy", "--preview", shop, "--stack-tag", hostile],
  ];
  test.for(cases)("%j", async (words) => {
    expectFit(await runCommand(words), words);
    expectFit(await runCommand([...words, "--json"]), words);
    if (!["check", "audit", "policy"].includes(words[0] ?? "")) return;
    for (const format of ["sarif", "github"]) expectFit(await runCommand([...words, "--format", format]), words);
  });
});

describe("texts of files and brokers never reach an output unescaped", () => {
  const odd = join(folder, `o${hostile.replaceAll(/[\uD800/]/g, "")}`);
  mkdirSync(odd);
  const cut = [file("cut.json", `{"a": ${hostile}`), file("cut.yaml", `a: "${hostile}\n  - *${hostile}`)];
  const thrown = file("throws.mjs", `throw new Error(${JSON.stringify(hostile)});`);
  const named = join(odd, "shop.json");
  writeFileSync(named, "{}");
  test.for([...cut, thrown, named])("an unusable file, %#", async (place) => {
    for (const format of ["text", "json", "sarif", "github"]) {
      expectFit(await runCommand(["check", place, ...target, "--format", format]), [place, format]);
      expectFit(await runCommand(["audit", "--definitions", place, "--format", format]), [place, format]);
      expectFit(await runCommand(["policy", "--preview", place, "--format", format]), [place, format]);
    }
    expectFit(await runCommand(["simulate", shop, ...target, "--scenario", place]), place);
    expectFit(await runCommand(["compile", shop, "--target", place]), place);
  });

  test("names in a broker's export", async () => {
    const queue = { name: hostile, vhost: `/${hostile}`, type: hostile, arguments: { [hostile]: hostile } };
    const place = file("odd.json", JSON.stringify({ rabbitmq_version: "4.3.6", queues: [queue] }));
    for (const format of ["text", "json", "sarif", "github"])
      expectFit(await runCommand(["audit", "--definitions", place, "--format", format]), format);
  });
});

describe("only our own colours reach the terminal", () => {
  beforeEach(() => {
    for (const stream of [process.stdout, process.stderr]) Object.assign(stream, { hasColors: () => true });
  });
  afterEach(() => {
    for (const stream of [process.stdout, process.stderr]) Reflect.deleteProperty(stream, "hasColors");
    vi.restoreAllMocks();
  });

  test("a table has the same width with and without them", async () => {
    const words = ["plan", shop];
    const { out } = await runCommand(words);
    expect(out).toContain("\u001B[1mshop\u001B[22m");
    Object.assign(process.stdout, { hasColors: () => false });
    expect(out.replaceAll(ownColours, "")).toBe((await runCommand(words)).out);
  });

  test("a control sequence in a name becomes visible characters, even if it imitates ours", async () => {
    const { error } = await runCommand(["plan", "\u001B[31mred\u001B[39m.json"]);
    expect(error).toContain("\u001B[31merror[RD001]\u001B[39m: ");
    expect(error).toContain("at   \u241B[31mred\u241B[39m.json\n");
  });
});

test("a renderer escapes any text before it is coloured", () => {
  forAll(100, [anyHostile, anyHostile], (text, name) => {
    const each = diagnostic("RD104", { message: text, path: [name], value: text, notes: [name], help: text });
    const rendered = renderDiagnostics([each], { colour: true, file: name });
    expect(unfitIn(rendered, true)).toBeNull();
    expect(rendered.split("\n")).toHaveLength(5);
  });
});

test("JSON has the same data in other characters", () => {
  forAll(100, [fc.dictionary(anyHostile, anyHostile)], (value) => {
    const text = printableJson(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(unfitIn(text, false)).toBeNull();
  });
});

test("visible characters of any language stay unchanged", () => {
  const text = "Zahlungsauftr\u00E4ge \u652F\u6255\u3044 \u062F\u0641\u0639 \u{1F4B6} a\u0301";
  expect(visible(text)).toBe(text);
  expect(paintFor(false)("bold", text)).toBe(text);
});
