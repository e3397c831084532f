import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { CompiledSystem, Target } from "../brokers/index.ts";
import { brokers, compile, parseTarget } from "../brokers/index.ts";
import type { System } from "../declare/system.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { plan } from "../plan/plan.ts";
import { loadDeclaration } from "./load-declaration.ts";
import { exitCodes } from "./run.ts";

interface Common {
  readonly json?: boolean;
}
interface ForTarget extends Common {
  readonly target: string;
  readonly strategy: string;
}

export async function planCommand(file: string, options: Common): Promise<number> {
  const system = await loadDeclaration(file);
  if (!system.ok) return refuse(file, system.diagnostics, options);
  warn(file, system.warnings, options);
  const planned = plan(system.value);
  if (options.json === true) return print(planned);
  const { renderPlanText } = await import("../report/text.ts");
  return print(renderPlanText(planned, { colour: process.stdout.hasColors?.() ?? false }));
}

export async function compileCommand(
  file: string,
  options: ForTarget & { readonly format: "json" | "definitions"; readonly vhost: string; readonly output?: string },
): Promise<number> {
  const compiled = await compileFile(file, options);
  if (!compiled.ok) return compiled.exitCode;
  const { definitions } = brokers[compiled.target.broker].exportFormats;
  const { value, warnings } = compiled;
  return print(
    options.format === "definitions" ? definitions?.(value, options.vhost) : { ...value, warnings },
    options.output,
  );
}

export async function contractCommand(file: string, consumer: string, options: ForTarget): Promise<number> {
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
  if (options.json === true) return print(contract);
  const { renderContractText } = await import("../report/text.ts");
  return print(renderContractText(contract));
}

/** Compiles, then proves the promises of every consumer. A property that does not hold is shown with the way that breaks it. */
export async function checkCommand(file: string, options: ForTarget): Promise<number> {
  const compiled = await compileFile(file, options);
  if (!compiled.ok) return compiled.exitCode;
  const { verify } = await import("../verify/verify.ts");
  const { renderVerdicts } = await import("../report/verdicts.ts");
  const verdicts = brokers[compiled.target.broker]
    .modelsOf(compiled.value, compiled.target)
    .map((model) => verify(model));
  await print(
    options.json === true
      ? { target: compiled.value.target, verdicts }
      : renderVerdicts(compiled.value.target, verdicts),
  );
  return verdicts.every((verdict) => verdict.violations.length === 0) ? exitCodes.fine : exitCodes.refused;
}

export async function graphCommand(
  file: string,
  options: ForTarget & { readonly format: "mermaid" | "dot" | "svg"; readonly output?: string },
): Promise<number> {
  const compiled = await compileFile(file, options);
  if (!compiled.ok) return compiled.exitCode;
  const graph = brokers[compiled.target.broker].graphOf(compiled.value);
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
  if (!system.ok) return refuse(file, system.diagnostics, options);
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

async function compileFile(file: string, options: ForTarget): Promise<CompiledFile> {
  const compiled = await compileSystem(file, await loadDeclaration(file), options);
  if (compiled.ok) warn(file, compiled.warnings, options);
  return compiled;
}

async function compileSystem(file: string, system: Checked<System>, options: ForTarget): Promise<CompiledFile> {
  const target = parseTarget(options.target, options.strategy);
  if (!target.ok) {
    refuse(undefined, target.diagnostics, options);
    return { ok: false, exitCode: exitCodes.usage };
  }
  if (!system.ok) return { ok: false, exitCode: refuse(file, system.diagnostics, options) };
  const compiled = compile(system.value, target.value);
  if (!compiled.ok) return { ok: false, exitCode: refuse(file, compiled.diagnostics, options) };
  return {
    ok: true,
    target: target.value,
    value: compiled.value,
    warnings: [...system.warnings, ...compiled.warnings],
  };
}

/** Reports why a declaration is refused; a file that cannot be read is wrong usage. */
function refuse(file: string | undefined, diagnostics: readonly Diagnostic[], options: Common): number {
  if (options.json === true) print({ ok: false, diagnostics });
  else {
    const colour = process.stderr.hasColors?.() ?? false;
    process.stderr.write(`${renderDiagnostics(diagnostics, { colour, ...(file === undefined ? {} : { file }) })}\n`);
  }
  return diagnostics.every(({ code }) => code === "RD001") ? exitCodes.usage : exitCodes.refused;
}

/** Warnings go to the standard error, so that the output stays what it is. */
function warn(file: string, warnings: readonly Diagnostic[], options: Common): void {
  if (warnings.length === 0 || options.json === true) return;
  const colour = process.stderr.hasColors?.() ?? false;
  process.stderr.write(`${renderDiagnostics(warnings, { colour, file })}\n`);
}

function usage(message: string, options: Common): number {
  if (options.json === true) print({ ok: false, usage: message });
  else process.stderr.write(`error: ${message}\n`);
  return exitCodes.usage;
}

async function print(value: unknown, file?: string): Promise<number> {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const line = text.endsWith("\n") ? text : `${text}\n`;
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
