import { type Stats, readdirSync, statSync } from "node:fs";
import { registerHooks } from "node:module";
import { basename, dirname, extname, join, normalize, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isMainThread, parentPort, workerData } from "node:worker_threads";

import { inWords } from "../declare/corrections.ts";
import { ownWord } from "../declare/other-words.ts";
import { checkSystem } from "../declare/check.ts";
import { plainData } from "../declare/plain-data.ts";
import type { System } from "../declare/system.ts";
import {
  type Checked,
  type Diagnostic,
  type RefusedError,
  accepted,
  diagnosed,
  refuseWhole,
} from "../diagnostics/diagnostic.ts";
import { catalogue } from "../diagnostics/catalogue.ts";
import { nearestWord } from "../diagnostics/distance.ts";
import { reasonOf } from "../diagnostics/reason-of.ts";
import type { Locate } from "../diagnostics/region.ts";
import { divertOthers } from "./output.ts";
import { packagedFile } from "./read-packaged.ts";
import { readText } from "./read-text.ts";
import type { ThreadMessage } from "./supervise.ts";
import { isEntry } from "../foreign/entries.ts";

/** A declaration, or the reasons to refuse it; with the places in its file, if the file has any. */
export type Loaded = Checked<System> & { readonly locate?: Locate };

/**
 * Loads and checks a declaration from a JSON or YAML file, or from a module of TypeScript or JavaScript.
 *
 * It imports a module and takes its default export. In that module `import … from "redeliver"` means this very copy.
 */
export async function loadDeclaration(file: string): Promise<Loaded> {
  const extension = extname(file).toLowerCase();
  const found = statOrCode(file);
  if (typeof found === "string")
    return refuseWhole(
      "RD001",
      found === "ENOENT" ? "there is no such file" : `the file cannot be read: ${found}`,
      nearestFile(file) ?? "check the path",
    );
  if (!found.isFile()) return refuseWhole("RD001", "this is not a file", "name the file of the declaration");
  switch (extension) {
    case ".json":
    case ".yaml":
    case ".yml": {
      const { parseText } = await import("../declare/parse.ts");
      const read = readText(file);
      if (!read.ok) return read;
      const { value: text } = read;
      const format = extension === ".json" ? "json" : "yaml";
      const parsed = parseText(text, format);
      const { locateIn } = await import("../declare/locate.ts");
      return { ...(parsed.ok ? checkSystem(parsed.value) : parsed), locate: locateIn(text, format) };
    }
    case ".ts":
    case ".mts":
    case ".cts":
    case ".js":
    case ".mjs":
    case ".cjs":
      return importDeclaration(file);
    default:
      return refuseWhole(
        "RD001",
        `a declaration is a .ts, .mts, .cts, .js, .mjs, .cjs, .json, .yaml or .yml file; this one ends in ${extension === "" ? "nothing" : extension}`,
        /^\.json[c5]$/.test(extension)
          ? "rename it to .json without comments, or to .yaml and begin each comment with #"
          : "rename the file",
      );
  }
}

/** The file beside the missing one that it most likely means. */
function nearestFile(file: string): string | undefined {
  try {
    const files = readdirSync(dirname(file)).filter((each) => /\.([cm]?[jt]s|ya?ml|json)$/.test(each));
    // In this order .yaml and .ts win over .json, which may be an output of compile.
    const withEnding = files.toSorted().findLast((each) => each.slice(0, -extname(each).length) === basename(file));
    const word = withEnding ?? nearestWord(basename(file), files);
    if (word !== undefined) return `did you mean ${join(dirname(file), word)}?`;
  } catch {
    // The folder is missing, too.
  }
  // The docs name examples from the folder of the package.
  const packaged = normalize(file).startsWith(join("examples", "/")) ? packagedFile(normalize(file)) : "";
  return statSync(packaged, { throwIfNoEntry: false })?.isFile() === true
    ? `did you mean ${relative(process.cwd(), packaged)}?`
    : undefined;
}

function statOrCode(file: string): Stats | string {
  try {
    return statSync(file);
  } catch (cause) {
    return String((cause as NodeJS.ErrnoException).code);
  }
}

async function importDeclaration(file: string): Promise<Checked<System>> {
  const imported = await importModule(file);
  if (!imported.ok) return imported;
  const exported = exportOf(imported.value);
  if (exported === undefined)
    return refuseWhole("RD003", "the module has no default export", "write export default defineSystem({ … })");
  return checkSystem(exported);
}

/** The exports of a module. */
export type Exports = Readonly<Record<string, unknown>>;

/** Imports a module of TypeScript or JavaScript. In it `import … from "redeliver"` means this very copy. */
export async function importModule(file: string): Promise<Checked<Exports>> {
  const ownEntry = new URL(import.meta.url.endsWith(".ts") ? "../index.ts" : "./library.mjs", import.meta.url).href;
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "redeliver" ? { url: ownEntry, shortCircuit: true } : next(specifier, context),
  });
  divertOthers();
  const { emitWarning } = process;
  // Node would say in four lines that it had to guess the kind of the module. Its guess is right.
  process.emitWarning = (...words: readonly unknown[]): void => {
    const isGuess = words.some((each) => isEntry(each) && each["code"] === "MODULE_TYPELESS_PACKAGE_JSON");
    // The diagnostic says the same.
    const isRefusal = String(words[0]).startsWith("Failed to load the ES module");
    if (!isGuess && !isRefusal) Reflect.apply(emitWarning, process, words);
  };
  tell({ kind: "importing", file });
  try {
    return accepted((await import(pathToFileURL(resolve(file)).href)) as Exports);
  } catch (cause) {
    const diagnostics = diagnosticsOf(cause);
    if (diagnostics !== undefined) return { ok: false, diagnostics };
    const reason = reasonOf(cause);
    const line = lineOf(cause, file);
    const where = line === undefined ? "run it with node to see where" : `see line ${line} of the file`;
    const help = (await importHelp(reason, file, ownEntry)) ?? where;
    return refuseWhole("RD003", `the module cannot be imported: ${reason}`, help);
  } finally {
    process.emitWarning = emitWarning;
    hooks.deregister();
    tell({ kind: "imported" });
  }
}

/** The line of the module that Node gives for the error: before the text of the module, or in the stack. */
function lineOf(cause: unknown, file: string): string | undefined {
  try {
    const text = String((cause as Error).stack);
    const ways = [pathToFileURL(resolve(file)).href, resolve(file)].map((way) => text.split(`${way}:`)[1]);
    return /^\d+/.exec(ways.find((rest) => rest !== undefined) ?? "")?.[0];
  } catch {
    return undefined;
  }
}

/** The edit for a module that Node cannot run as it stands, and that a compiler would have translated first. */
async function importHelp(reason: string, file: string, ownEntry: string): Promise<string | undefined> {
  if (reason.startsWith("SyntaxError") && /\.c[jt]s$/i.test(file))
    return "write const { … } = require(…) and module.exports = …, or rename the file: .mts has import and export";
  if (/(module|exports|require) is not defined in ES module scope/.test(reason))
    return "write import { … } from … and export default …; only a file whose name ends in .cjs or .cts has require and module";
  if (reason.includes("Cannot use import statement outside a module"))
    return `rename the file to ${basename(file).replace(/[jt]s$/, "m$&")}, or write "type": "module" in package.json`;
  if (reason.includes("TypeScript enum is not supported"))
    return 'write const Keys = { placed: "order.placed" } as const: Node only removes types, and an enum is code';
  const [, name] = /module 'redeliver' does not provide an export named '(.+)'/.exec(reason) ?? [];
  if (name === undefined) return undefined;
  if (/^[A-Z]/.test(name)) return `if it is a type, write import { type ${name} }`;
  const own = Object.keys((await import(ownEntry)) as Exports).filter((each) => /^[a-z]/.test(each));
  const meant = ownWord(name, own) ?? nearestWord(name, own);
  return meant === undefined ? `redeliver has ${inWords(own.toSorted())}` : `import ${meant} instead`;
}

/** A compiler writes `export default` into a CommonJS module as a property of its only export. */
export function exportOf({ default: exported }: Exports): unknown {
  try {
    return isEntry(exported) && exported["__esModule"] === true ? exported["default"] : exported;
  } catch {
    return exported;
  }
}

/** Tells the thread that supervises the command, if there is one. */
export function tell(message: ThreadMessage): void {
  if (isMainThread || !("words" in Object(workerData))) return;
  parentPort?.postMessage(message, []);
}

/** Recognises a refusal by defineSystem by its shape, because the module may have its own copy of redeliver. */
function diagnosticsOf(cause: unknown): readonly Diagnostic[] | undefined {
  const thrown = plainData(partsOf(cause));
  if (!thrown.ok || !isRefusal(thrown.value)) return undefined;
  // Builds the diagnostics again from their codes, because a value that looks like one may be anything.
  const made = thrown.value.diagnostics.flatMap((each) =>
    isDiagnostic(each) && Object.hasOwn(catalogue, each.code) ? diagnosed(each.code, each) : [],
  );
  return made.length === 0 ? undefined : made;
}

/** The two properties of a refusal. Reading them may throw, because a module may throw any value. */
function partsOf(cause: unknown): object | undefined {
  try {
    const { name, diagnostics } = Object(cause) as Partial<RefusedError>;
    return { name, diagnostics };
  } catch {
    return undefined;
  }
}

function isRefusal(thrown: unknown): thrown is { readonly diagnostics: readonly unknown[] } {
  return isEntry(thrown) && thrown["name"] === "RefusedError" && Array.isArray(thrown["diagnostics"]);
}

function isDiagnostic(value: unknown): value is Diagnostic {
  if (!isEntry(value)) return false;
  const { code, message, path, notes, help = "" } = value;
  const areTexts = [code, message, path, help].every((each) => typeof each === "string");
  return areTexts && Array.isArray(notes) && notes.every((each) => typeof each === "string");
}
