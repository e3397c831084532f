import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { CompiledSystem, Target } from "../brokers/index.ts";
import { brokerOf } from "../brokers/index.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { hasErrors } from "../diagnostics/diagnostic.ts";
import type { Locate } from "../diagnostics/region.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { plan } from "../plan/plan.ts";
import { compile } from "../verify/compile.ts";
import type { Loaded } from "./load-declaration.ts";
import { loadDeclaration } from "./load-declaration.ts";
import { loadTarget } from "./load-target.ts";
import { exitCodes } from "./run.ts";

interface Common {
  readonly json?: boolean;
}
export interface ForTarget extends Common {
  readonly target: string;
  readonly strategy: string;
}

export async function planCommand(file: string, options: Common): Promise<number> {
  const system = await loadDeclaration(file);
  if (!system.ok) return refuse(file, system.diagnostics, options, system.locate);
  warn(file, system.warnings, options, system.locate);
  const planned = plan(system.value);
  if (options.json === true) return print(planned);
  const { renderPlanText } = await import("../report/text.ts");
  return print(renderPlanText(planned, { colour: process.stdout.hasColors?.() ?? false }));
}

export async function compileCommand(
  file: string,
  options: ForTarget & { readonly format: string; readonly vhost?: string; readonly output?: string },
): Promise<number> {
  const target = loadTarget(options.target, options.strategy);
  const misuse = target.ok ? misuseOf(target.value, options) : null;
  if (misuse !== null) return usage(misuse, options);
  const compiled = await compileFile(file, options);
  if (!compiled.ok) return compiled.exitCode;
  const { exportFormats, diagnoseExport, defaultNamespace } = brokerOf(compiled.target);
  const { value, warnings } = compiled;
  const write = exportFormats[options.format];
  const diagnostics = diagnoseExport?.(value, options.format) ?? [];
  if (hasErrors(diagnostics)) return refuse(file, diagnostics, options, undefined);
  warn(file, diagnostics, options, undefined);
  return print(
    write === undefined ? { ...value, warnings } : write(value, options.vhost ?? defaultNamespace),
    options.output,
  );
}

/** An option that another broker has, and the target's does not. */
function misuseOf(
  target: Target,
  { format, vhost }: { readonly format: string; readonly vhost?: string },
): string | null {
  const { title, exportFormats, defaultNamespace } = brokerOf(target);
  const formats = ["json", ...Object.keys(exportFormats)];
  if (!formats.includes(format)) return `${title} has no format ${format}; its formats are ${formats.join(", ")}`;
  if (vhost !== undefined && defaultNamespace === null)
    return `${title} has no virtual hosts, so --vhost means nothing`;
  return null;
}

export async function contractCommand(
  file: string,
  consumer: string,
  options: ForTarget & { readonly markdown?: boolean; readonly output?: string },
): Promise<number> {
  const compiled = await compileFile(file, options);
  if (!compiled.ok) return compiled.exitCode;
  const contract = compiled.value.contracts.find((each) => each.consumer === consumer);
  if (contract === undefined) {
    const declared = compiled.value.contracts.map((each) => each.consumer).join(", ");
    return usage(
      `no consumer named ${JSON.stringify(consumer)} is declared in ${file}; declared are ${declared}`,
      options,
    );
  }
  if (options.json === true) return print(contract, options.output);
  if (options.markdown === true) {
    const { renderContractPage } = await import("../report/contract-page/contract-page.ts");
    return print(renderContractPage(contract), options.output);
  }
  const { renderContractText } = await import("../report/text.ts");
  return print(renderContractText(contract), options.output);
}

export async function graphCommand(
  file: string,
  options: ForTarget & { readonly format: "mermaid" | "dot" | "svg"; readonly output?: string },
): Promise<number> {
  const compiled = await compileFile(file, options);
  if (!compiled.ok) return compiled.exitCode;
  const graph = brokerOf(compiled.target).graphOf(compiled.value);
  if (options.json === true) return print(graph, options.output);
  switch (options.format) {
    case "mermaid": {
      const { renderMermaid } = await import("../report/mermaid.ts");
      return print(renderMermaid(graph), options.output);
    }
    case "dot": {
      const { renderDot } = await import("../report/dot.ts");
      return print(renderDot(graph), options.output);
    }
    case "svg": {
      const { renderSvg } = await import("../report/svg.ts");
      return print(await renderSvg(graph), options.output);
    }
    default:
      return options.format satisfies never;
  }
}

export async function reportCommand(
  file: string,
  options: Common & { readonly target: readonly string[]; readonly strategy: string; readonly output: string },
): Promise<number> {
  const system = await loadDeclaration(file);
  if (!system.ok) return refuse(file, system.diagnostics, options, system.locate);
  const { writeReport } = await import("./write-report.ts");
  const all = [];
  for (const text of options.target) {
    const compiled = await compileSystem(file, system, {
      target: text,
      strategy: options.strategy,
      json: options.json ?? false,
    });
    if (!compiled.ok) return compiled.exitCode;
    all.push(compiled);
  }
  const written = await writeReport(system.value, all, options.output).catch((cause: NodeJS.ErrnoException) => cause);
  if (written instanceof Error) return usage(`${options.output} cannot be written: ${written.message}`, options);
  return print(options.json === true ? { written: written.written } : written.text);
}

/** A compiled system with the target it was compiled for. */
export interface CompiledFor {
  readonly target: Target;
  readonly value: CompiledSystem;
  readonly warnings: readonly Diagnostic[];
}

type CompiledFile = ({ readonly ok: true } & CompiledFor) | { readonly ok: false; readonly exitCode: number };

export async function compileFile(file: string, options: ForTarget): Promise<CompiledFile> {
  const system = await loadDeclaration(file);
  const compiled = await compileSystem(file, system, options);
  if (compiled.ok) warn(file, compiled.warnings, options, system.locate);
  return compiled;
}

async function compileSystem(file: string, system: Loaded, options: ForTarget): Promise<CompiledFile> {
  const compiled = compileLoaded(system, options);
  if (compiled.ok) return { ok: true, ...compiled.value, warnings: compiled.warnings };
  const isInFile = compiled.diagnostics.some(({ code }) => !targetCodes.has(code));
  return {
    ok: false,
    exitCode: refuse(isInFile ? file : undefined, compiled.diagnostics, options, system.locate),
  };
}

/** Compiles for the target of the command line, which is looked at first, and prints nothing. */
export function compileLoaded(system: Loaded, options: ForTarget): Checked<Omit<CompiledFor, "warnings">> {
  const target = loadTarget(options.target, options.strategy);
  if (!target.ok) return target;
  if (!system.ok) return system;
  const compiled = compile(system.value, target.value);
  if (!compiled.ok) return compiled;
  return {
    ok: true,
    value: { target: target.value, value: compiled.value },
    warnings: [...system.warnings, ...compiled.warnings],
  };
}

/** Reports why a declaration is refused. */
function refuse(
  file: string | undefined,
  diagnostics: readonly Diagnostic[],
  options: Common,
  locate: Locate | undefined,
): number {
  if (options.json === true) print({ ok: false, diagnostics });
  else {
    const colour = process.stderr.hasColors?.() ?? false;
    const place = file === undefined ? {} : { file, locate };
    process.stderr.write(`${renderDiagnostics(diagnostics, { colour, ...place })}\n`);
  }
  return exitCodeOf(diagnostics);
}

/** What is said about the target of the command line, and not about the file. */
const targetCodes: ReadonlySet<string> = new Set("RD201 RD601 RD616 RD617 RD618 RD701 RD702 RD703".split(" "));

/** How a refusal ends: a file that cannot be read and a target that there is not are wrong usage. */
export function exitCodeOf(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.every(({ code }) => code === "RD001" || targetCodes.has(code))
    ? exitCodes.usage
    : exitCodes.refused;
}

/** Warnings go to the standard error, so that the output stays what it is. */
function warn(file: string, warnings: readonly Diagnostic[], options: Common, locate: Locate | undefined): void {
  if (warnings.length === 0 || options.json === true) return;
  const colour = process.stderr.hasColors?.() ?? false;
  process.stderr.write(`${renderDiagnostics(warnings, { colour, file, locate })}\n`);
}

function usage(message: string, options: Common): number {
  if (options.json === true) print({ ok: false, usage: message });
  else process.stderr.write(`error: ${message}\n`);
  return exitCodes.usage;
}

export async function print(value: unknown, file?: string): Promise<number> {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const line = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  if (file === undefined) {
    process.stdout.write(line);
    return exitCodes.fine;
  }
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, line);
    return exitCodes.fine;
  } catch (cause) {
    return usage(`${join(file)} cannot be written: ${(cause as Error).message}`, {});
  }
}
