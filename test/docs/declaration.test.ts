import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

import type { Schema } from "../../scripts/declaration-page.ts";
import {
  comparedTargets,
  compileFor,
  exampleSystem,
  propertiesOf,
  renderDeclaration,
} from "../../scripts/declaration-page.ts";
import { asDuration, durationPattern, parseDurationMs } from "../../src/declare/duration.ts";
import { parseText } from "../../src/declare/parse.ts";
import { formTexts } from "../../src/declare/schema-parts.ts";
import { checkSystem, declarationJsonSchema } from "../../src/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");
const properties = propertiesOf();
const nameOf = (path: readonly string[], backoff: string | null): string => [...path, backoff ?? ""].join(".");

describe("each property of the schema", () => {
  test("is found", () => expect(properties.length).toBeGreaterThan(40));

  test.each(properties.map((each) => [nameOf(each.path, each.backoff), each.schema] as const))(
    "%s has a description in short sentences",
    (_name, { description = "" }) => {
      const sentences = description.split(/(?<=\.)\s+/);
      expect(sentences.filter((each) => !/^[A-Z`]/.test(each) || !each.endsWith("."))).toEqual([]);
      expect(sentences.filter((each) => each.split(/\s+/).length > 25)).toEqual([]);
    },
  );

  test("is required, or says its default", () => {
    const silent = properties.filter(
      ({ schema, isRequired }) =>
        !isRequired && schema.default === undefined && !/default|left out|needs it/i.test(schema.description ?? ""),
    );
    expect(silent.map(({ path, backoff }) => nameOf(path, backoff))).toEqual([]);
  });

  test("exists since the first version, which the page names", () => {
    // With the next version, a property that it adds needs a version of its own on the page.
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
    expect(renderDeclaration()).toContain(`All properties exist since Redeliver ${version}.`);
  });

  const examples = properties.flatMap((property) =>
    (property.schema.examples ?? []).map((example) => [JSON.stringify(example), property, example] as const),
  );
  test.each(examples)("has an example that compiles: %s", (_text, property, example) => {
    expect(checkSystem(exampleSystem(property, example))).toMatchObject({ ok: true });
    const compiled = comparedTargets.filter(
      (target) => compileFor(exampleSystem(property, example, target), target).ok,
    );
    expect(compiled.length, nameOf(property.path, property.backoff)).toBeGreaterThan(0);
  });

  test("has an example", () => {
    const without = properties.filter(({ schema }) => schema.examples === undefined && schema.const === undefined);
    expect(without.map(({ path }) => path)).toEqual([]);
  });
});

/** A program that the type checker and the editor's services see, with one file of our own. */
function servicesFor(text: string): { readonly services: ts.LanguageService; readonly file: string } {
  const file = join(root, "examples/typed-here.ts");
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ["node"],
    paths: { redeliver: [join(root, "src/index.ts")], "redeliver/consume": [join(root, "src/consume/index.ts")] },
  };
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => "1",
    getScriptSnapshot: (name) => {
      const content = name === file ? text : ts.sys.readFile(name);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (each) => ts.getDefaultLibFilePath(each),
    fileExists: (name) => name === file || ts.sys.fileExists(name),
    readFile: (name) => (name === file ? text : ts.sys.readFile(name)),
    directoryExists: (name) => ts.sys.directoryExists(name),
  };
  return { services: ts.createLanguageService(host), file };
}

const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

describe("in TypeScript", () => {
  test("each property has the schema's text as its comment", () => {
    const { services, file } = servicesFor(
      'import type { SystemInput } from "../src/declare/system.ts"; export declare const it: SystemInput;',
    );
    const program = services.getProgram();
    const checker = program?.getTypeChecker();
    const source = program?.getSourceFile(file);
    if (checker === undefined || source === undefined) throw new Error("no program");
    const [declared] = checker.getExportsOfModule(checker.getSymbolAtLocation(source) as ts.Symbol);
    const found = new Set<string>();
    /** Compares a type with the schema of the same place. Returns the places where the texts differ. */
    const compare = (type: ts.Type, schema: Schema, path: string): string[] => {
      const branches = type.isUnion() ? type.types : [type];
      return branches.flatMap((branch) => {
        const named = branch.getStringIndexType();
        if (named !== undefined && schema.additionalProperties) {
          return compare(named, schema.additionalProperties, `${path}.*`);
        }
        return checker.getPropertiesOfType(branch).flatMap((symbol) => {
          const own = ofKind(schema, checker, branch)?.properties?.[symbol.name];
          const propertyType = checker.getNonNullableType(checker.getTypeOfSymbol(symbol));
          // Such a property may not be given, so the editor offers no comment for it.
          if (own === undefined || (propertyType.flags & ts.TypeFlags.Never) !== 0) return [];
          const place = `${path}.${symbol.name}`;
          found.add(place);
          const form = formTexts[own.pattern ?? ""] ?? "";
          const comment = plain(ts.displayPartsToString(symbol.getDocumentationComment(checker)));
          const wanted = plain((own.description ?? "").replace(form, ""));
          return [
            ...(comment === wanted ? [] : [`${place}: ${comment} | ${wanted}`]),
            ...compare(propertyType, own, place),
          ];
        });
      });
    };
    expect(compare(checker.getTypeOfSymbol(declared as ts.Symbol), declarationJsonSchema() as Schema, "")).toEqual([]);
    const wanted = properties.map(({ path }) => `.${path.join(".")}`.replace(/\.(orders|billing)\b/, ".*"));
    expect([...found].toSorted()).toEqual([...new Set(wanted)].filter((each) => each !== ".$schema").toSorted());
  });

  const typed = (consumer: string): string => `import { consume } from "redeliver/consume";
    import { constant, defineSystem } from "redeliver";
    const retry = { attempts: 2, backoff: constant("1s") };
    const shop = defineSystem({
      name: "shop",
      sources: { orders: { kind: "topic" } },
      consumers: { billing: { from: { orders: "all" }, retry }, audit: { from: { orders: "all" }, retry } },
    });
    const target = { broker: "rabbitmq", version: "4.3" } as const;
    await consume(shop, "${consumer}", { target, connection: { url: "amqp://localhost" } }, async () => {});`;

  test("the names of the consumers complete, and a wrong one is an error that names them", () => {
    const text = typed("biling");
    const { services, file } = servicesFor(text);
    const completed = services.getCompletionsAtPosition(file, text.indexOf('"biling"') + 1, {});
    expect(completed?.entries.map(({ name }) => name)).toEqual(["billing", "audit"]);
    const problems = services.getSemanticDiagnostics(file);
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([
      'Argument of type \'"biling"\' is not assignable to parameter of type \'"billing" | "audit"\'.',
    ]);
    const right = servicesFor(typed("billing"));
    expect(right.services.getSemanticDiagnostics(right.file)).toEqual([]);
  });
});

function ofKind(schema: Schema, checker: ts.TypeChecker, type: ts.Type): Schema | undefined {
  if (schema.oneOf === undefined) return schema;
  const kind = type.getProperty("kind");
  const text = kind === undefined ? "" : checker.typeToString(checker.getTypeOfSymbol(kind));
  return schema.oneOf.find((each) => JSON.stringify(each.properties?.["kind"]?.const) === text);
}

describe("a file", () => {
  const page = readFileSync(join(root, "docs/declaration.md"), "utf8");
  const blocks = [...page.matchAll(/^```(json|yaml)\n(.*?)^```$/gms)];

  test("of each format on the page is a declaration", () => {
    expect(blocks.map(([, format]) => format)).toEqual(["json", "yaml"]);
    for (const [, format, text = ""] of blocks) {
      const parsed = parseText(text, format as "json" | "yaml");
      const checked = checkSystem(parsed.ok ? parsed.value : null);
      if (!checked.ok) throw new Error(text);
      expect(Object.keys(checked.value)).toEqual(["name", "sources", "consumers"]);
    }
  });

  test("of YAML may have each example of the page as it is written there", () => {
    const written = [...page.matchAll(/^- Example: (.+)$/gm)].flatMap(([, line = ""]) =>
      [...line.matchAll(/`([^`]+)`/g)].map(
        ([, text = ""]) => Object.values(parse(`{ ${text} }`) as object)[0] as unknown,
      ),
    );
    expect(written).toEqual(properties.flatMap(({ schema }) => schema.examples ?? []));
    expect(page).not.toMatch(/\[object |the name has "\." in it/);
  });

  const durations = properties.filter(
    ({ schema }) => (schema.pattern ?? schema.items?.pattern) === durationPattern.source,
  );
  test("says for each duration from where to where it may be, as the rules do", () => {
    const values = [...page.matchAll(/^- Value: .*whole number and a unit: .*$/gm)].map(([line]) => line);
    expect(values).toHaveLength(durations.length);
    const lengths = durations.map((property, index) => {
      const [, shortest = "", longest = ""] = /; from (\S+) to (\d+\w)/.exec(values[index] ?? "") ?? [];
      const isRefused = (durationMs: number): boolean => {
        const value = property.schema.items === undefined ? asDuration(durationMs) : [asDuration(durationMs)];
        const checked = checkSystem(exampleSystem(property, value));
        return !checked.ok && checked.diagnostics.some(({ code }) => code === "RD105");
      };
      const [shortestMs, longestMs] = [parseDurationMs(shortest), parseDurationMs(longest)];
      expect([shortestMs - 1, shortestMs, longestMs, longestMs + 1].map(isRefused)).toEqual([true, false, false, true]);
      return shortest;
    });
    expect(new Set(lengths)).toEqual(new Set(["1ms", "1s"]));
  });

  test("of YAML may use anchors and merge keys", () => {
    const parsed = parseText(blocks[1]?.[2] ?? "", "yaml");
    const checked = checkSystem(parsed.ok ? parsed.value : null);
    expect(checked).toMatchObject({
      value: { consumers: { billing: { retry: { attempts: 5 } }, audit: { retry: { attempts: 10 } } } },
    });
  });

  const declared = '{ name: "shop", sources: {}, consumers: {} }';
  test.each([
    ["shop.cjs", `const { defineSystem } = require("redeliver"); module.exports = defineSystem(${declared});`],
    ["shop.cts", `const name: string = "shop"; module.exports = { ...${declared}, name };`],
    ["compiled.cjs", `exports.__esModule = true; exports.default = ${declared};`],
    ["shop.mts", `import { defineSystem } from "redeliver"; export default defineSystem(${declared});`],
    [
      "wrong.cts",
      `import { defineSystem } from "redeliver"; export default defineSystem(${declared});`,
      "fix  write const { … } = require(…) and module.exports = …, or rename the file: .mts has import and export",
    ],
  ])("%s is a declaration, or the reason why not is clear", (name, text, fix = "") => {
    const folder = temporaryFolder("declaration", onTestFinished);
    writeFileSync(join(folder, name), text);
    const child = spawnSync(process.execPath, [join(root, "src/cli/main.ts"), "plan", name], {
      cwd: folder,
      encoding: "utf8",
    });
    expect([child.stdout, child.status]).toEqual(fix === "" ? ["shop: 0 consumers, 0 sources\n", 0] : ["", 1]);
    expect(child.stderr).toContain(fix);
  });
});
