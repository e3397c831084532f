import fc from "fast-check";
import { expect, test } from "vitest";

import { type Diagnostic, diagnostic } from "../../src/diagnostics/diagnostic.ts";
import { renderGithub } from "../../src/diagnostics/github.ts";
import { diagnosticCodes } from "../../src/diagnostics/catalogue.ts";
import type { Region } from "../../src/diagnostics/region.ts";
import { renderDiagnostics, renderMessage } from "../../src/diagnostics/render.ts";
import { renderSarif } from "../../src/diagnostics/sarif.ts";
import { visible } from "../../src/diagnostics/visible.ts";
import { forAll } from "../support/for-all.ts";
import { parseSarif } from "../support/sarif.ts";
import { parseWorkflowCommands } from "../support/workflow-commands.ts";

/** Any text, above all characters that have a meaning for a reader of the output. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.string({ maxLength: 8 }),
      fc.constantFrom("\n", "\r\n", "\r", "%", "%0A", "%25", "::", ":", ",", "=", "{0}", "{", "}}", "[a](b)", "\u2028"),
      fc.constantFrom("\ud800", "::error::", "##[error]", '"', "\\", "\0", "`"),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(""));
const nonEmpty = text.filter((each) => each !== "");

const anyDiagnostic: fc.Arbitrary<Diagnostic> = fc
  .record({
    code: fc.constantFrom(...diagnosticCodes),
    message: nonEmpty,
    path: fc.array(fc.oneof(nonEmpty, fc.nat(99)), { maxLength: 4 }),
    notes: fc.array(text, { maxLength: 2 }),
    help: fc.option(text, { nil: undefined }),
  })
  .map(({ code, help, ...rest }) => diagnostic(code, { ...rest, ...(help === undefined ? {} : { help }) }));

const region: fc.Arbitrary<Region | undefined> = fc.option(
  fc
    .tuple(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: 1, max: 300 }), fc.nat(50))
    .map(([line, column, length]) => ({ line, column, endLine: line, endColumn: column + length })),
  { nil: undefined },
);
const anyReport = fc.record({
  diagnostics: fc.array(anyDiagnostic, { maxLength: 5 }),
  // A running broker has no file.
  file: fc.option(nonEmpty, { nil: undefined }),
  region,
});

test("all diagnostics become a valid SARIF log with the same content", () => {
  forAll(100, [anyReport], ({ diagnostics, file, region }) => {
    const [run] = parseSarif(renderSarif(diagnostics, { file, locate: () => region })).runs;
    expect(run?.results.map(({ ruleId, level }) => [ruleId, level])).toEqual(
      diagnostics.map(({ code, severity }) => [code, severity]),
    );
    for (const [index, each] of diagnostics.entries()) {
      const said = run?.results[index]?.message.text;
      expect(said?.replaceAll("{{", "{").replaceAll("}}", "}").replaceAll("\\](", "](")).toBe(renderMessage(each));
    }
    const fingerprints = run?.results.map((each) => Object.values(each.partialFingerprints).join()) ?? [];
    expect(new Set(fingerprints).size).toBe(fingerprints.length);
  });
});

test("a fingerprint does not change when lines move or words change", () => {
  forAll(100, [fc.array(anyDiagnostic, { maxLength: 5 }), region, region], (diagnostics, before, after) => {
    const fingerprints = (all: readonly Diagnostic[], place: Region | undefined): unknown =>
      parseSarif(renderSarif(all, { file: "shop.yaml", locate: () => place })).runs[0]?.results.map(
        (each) => each.partialFingerprints,
      );
    const reworded = diagnostics.map((each) => ({ ...each, message: `${each.message}.` }));
    expect(fingerprints(reworded, after)).toEqual(fingerprints(diagnostics, before));
  });
});

test("every diagnostic becomes one line for GitHub Actions, and parses back", () => {
  forAll(100, [anyReport], ({ diagnostics, file, region }) => {
    const commands = parseWorkflowCommands(renderGithub(diagnostics, { file, locate: () => region }));
    expect(commands).toEqual(
      diagnostics.map((each) => ({
        command: each.severity,
        properties: {
          ...(file === undefined ? {} : { file: visible(file).replaceAll("\\", "/"), line: String(region?.line ?? 1) }),
          ...(file === undefined || region === undefined ? {} : { col: String(region.column) }),
          title: visible([each.code, each.path].filter((part) => part !== "").join(" ")),
        },
        message: renderMessage(each),
      })),
    );
  });
});

test("a terminal shows the place between the file and the path, and nothing without a place", () => {
  const each = diagnostic("RD104", { message: "0 is out of range", path: ["a", "b"] });
  const place = { line: 7, column: 5, endLine: 7, endColumn: 6 };
  const line = (options: Parameters<typeof renderDiagnostics>[1]): string | undefined =>
    renderDiagnostics([each], options).split("\n")[1];
  expect(line({ file: "shop.yaml", locate: () => place })).toBe("  at   shop.yaml:7:5: a.b");
  expect(line({ file: "shop.yaml", locate: () => undefined })).toBe("  at   shop.yaml: a.b");
  expect(line({ locate: () => place })).toBe("  at   a.b");
});
