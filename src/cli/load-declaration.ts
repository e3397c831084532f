import { readFile, stat } from "node:fs/promises";
import { registerHooks } from "node:module";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { checkSystem } from "../declare/check.ts";
import type { System } from "../declare/system.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import type { Locate } from "../diagnostics/region.ts";

/** A declaration, or why it is refused; with the places of its file where the file has them. */
export type Loaded = Checked<System> & { readonly locate?: Locate };

/**
 * Loads a declaration from a `.ts`, `.js`, `.mjs`, `.json`, `.yaml` or `.yml` file and checks it.
 *
 * A module is imported and its default export taken; `import … from "redeliver"` in it means this very copy.
 */
export async function loadDeclaration(file: string): Promise<Loaded> {
  const extension = extname(file).toLowerCase();
  const found = await stat(file).catch((cause: NodeJS.ErrnoException) => cause);
  if (found instanceof Error) {
    return refuse(
      "RD001",
      found.code === "ENOENT" ? "there is no such file" : `the file cannot be read: ${found.code}`,
      "check the path",
    );
  }
  if (!found.isFile()) return refuse("RD001", "this is not a file", "name the file of the declaration");
  switch (extension) {
    case ".json":
    case ".yaml":
    case ".yml": {
      const { parseText } = await import("../declare/parse.ts");
      const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => cause);
      if (text instanceof Error)
        return refuse("RD001", `the file cannot be read: ${text.code}`, "check its permissions");
      const format = extension === ".json" ? "json" : "yaml";
      const parsed = parseText(text, format);
      const { locateIn } = await import("../declare/locate.ts");
      return { ...(parsed.ok ? checkSystem(parsed.value) : parsed), locate: locateIn(text, format) };
    }
    case ".ts":
    case ".mts":
    case ".js":
    case ".mjs":
      return importDeclaration(file);
    default:
      return refuse(
        "RD001",
        `a declaration is a .ts, .js, .mjs, .json, .yaml or .yml file; this one ends in ${extension === "" ? "nothing" : extension}`,
        "rename the file",
      );
  }
}

async function importDeclaration(file: string): Promise<Checked<System>> {
  const ownEntry = new URL(`../index${extname(import.meta.url)}`, import.meta.url).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "redeliver" ? { url: ownEntry, shortCircuit: true } : next(specifier, context),
  });
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(resolve(file)).href)) as typeof module;
  } catch (cause) {
    const diagnostics = diagnosticsOf(cause);
    if (diagnostics !== undefined) return { ok: false, diagnostics };
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message.split("\n")[0]}` : String(cause);
    return refuse("RD003", `the module cannot be imported: ${reason}`, "run it with node to see where");
  }
  if (module.default === undefined) {
    return refuse("RD003", "the module has no default export", "write export default defineSystem({ … })");
  }
  return checkSystem(module.default);
}

/** A refusal by defineSystem, told by its shape: the module may have brought its own copy of redeliver. */
function diagnosticsOf(cause: unknown): readonly Diagnostic[] | undefined {
  if (!(cause instanceof Error) || cause.name !== "RefusedError" || !("diagnostics" in cause)) return undefined;
  return cause.diagnostics as readonly Diagnostic[];
}

function refuse(code: "RD001" | "RD003", message: string, help: string): Checked<never> {
  return { ok: false, diagnostics: [diagnostic(code, { path: "", message, help })] };
}
