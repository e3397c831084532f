import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";

import { brokerOf } from "../brokers/index.ts";
import { prove } from "../verify/compile.ts";
import type { ForTarget } from "./commands.ts";
import { compileFile, compileLoaded, exitCodeOf, print } from "./commands.ts";
import { loadDeclaration } from "./load-declaration.ts";
import { exitCodes } from "./run.ts";

interface CheckOptions extends ForTarget {
  readonly format: "text" | "json" | "sarif" | "github";
  readonly output?: string;
}

/** Compiles, then proves the promises of every consumer: for a person, for a program, or for what shows it beside the code. */
export async function checkCommand(file: string, options: CheckOptions): Promise<number> {
  const format = options.json === true ? "json" : options.format;
  switch (format) {
    case "text":
    case "json":
      return showProof(file, { ...options, json: format === "json" });
    case "sarif":
    case "github":
      return showDiagnostics(file, format, options);
    default:
      return format satisfies never;
  }
}

async function showProof(file: string, options: CheckOptions): Promise<number> {
  const compiled = await compileFile(file, options);
  if (!compiled.ok) return compiled.exitCode;
  const { value, warnings } = compiled;
  const verdicts = prove(value, compiled.target);
  const evidence = brokerOf(compiled.target).evidenceOf(compiled.target);
  if (options.json === true) {
    return print({ target: value.target, evidence, verdicts, promises: value.promises, warnings }, options.output);
  }
  const { renderVerdicts } = await import("../report/verdicts.ts");
  return print(renderVerdicts(value.target, verdicts, value.promises, evidence), options.output);
}

/** Refusals and warnings alike are the output here, so that it is there and valid whatever was found. */
async function showDiagnostics(file: string, format: "sarif" | "github", options: CheckOptions): Promise<number> {
  const system = await loadDeclaration(file);
  const compiled = compileLoaded(system, options);
  const diagnostics = compiled.ok ? compiled.warnings : compiled.diagnostics;
  // Code scanning knows files by their paths from the root of the repository, where workflows run.
  const place = { file: relative("", resolve(file)) || ".", locate: system.locate };
  let text: string;
  if (format === "sarif") {
    const { renderSarif } = await import("../diagnostics/sarif.ts");
    text = renderSarif(diagnostics, { ...place, version: ownVersion() });
  } else {
    const { renderGithub } = await import("../diagnostics/github.ts");
    text = renderGithub(diagnostics, place);
  }
  const printed = await print(text, options.output);
  if (printed !== exitCodes.fine) return printed;
  return compiled.ok ? exitCodes.fine : exitCodeOf(diagnostics);
}

/** From the package that this file is in: `package.json` is as far from `dist/cli` as it is from `src/cli`. */
export function ownVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
