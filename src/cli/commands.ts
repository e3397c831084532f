import type { Graph } from "../brokers/graph.ts";
import { type CompiledSystem, type Target, brokerOf } from "../brokers/index.ts";
import { type Checked, type Diagnostic, hasErrors } from "../diagnostics/diagnostic.ts";
import type { Locate } from "../diagnostics/region.ts";
import type { Reported } from "../diagnostics/reported.ts";
import { count } from "../contract/in-words.ts";
import { keptByLock } from "../contract/choose-strategy.ts";
import type { Kept } from "../migrate/keep-strategies.ts";
import { type Plan, plan } from "../plan/plan.ts";
import { checkSystem } from "../declare/check.ts";
import type { System } from "../declare/system.ts";
import { type Proved, provePlan } from "../compile/compile.ts";
import { loadDeclaration, tell } from "./load-declaration.ts";
import { inNames, loadTarget, namesIn } from "./load-target.ts";
import { type KeptTarget, targetFor } from "./lock-file.ts";
import { exitCodes } from "./exit-codes.ts";
import { holdsPassword, paintOn, print } from "./output.ts";
import { readProject, todayUtc, waive } from "./project.ts";
import { readPackaged } from "./read-packaged.ts";
import { type Answer, refuse as refuseAll, say, usage } from "./refuse.ts";
import { UnwritableError } from "./write-file.ts";

export interface ForTarget extends Answer {
  readonly target: string;
  readonly strategy: string;
  /** The project file with waivers of warnings. */
  readonly project?: string;
}

export async function planCommand(
  file: string,
  options: Answer & { readonly target?: string; readonly strategy: string },
): Promise<number> {
  if (options.target === undefined && options.strategy !== "auto")
    return usage("--strategy needs a target: add --target, such as rabbitmq@4.3", { json: options.json });
  const target = options.target === undefined ? null : loadTarget(options.target, options.strategy);
  if (target?.ok === false) return refuse(undefined, target.diagnostics, options);
  const planned = await loadPlan(file, options.target);
  if (!planned.ok) return refuse(file, planned.diagnostics, options, planned.locate);
  warn(file, planned.warnings, options, planned.locate);
  const { costTable, costsByStrategy } = await import("../report/costs.ts");
  const kept = target === null ? null : targetFor(planned, options.target ?? "", options.strategy, target);
  if (kept?.ok === false) return refuse(undefined, kept.diagnostics, options);
  const costs = kept === null ? null : costsByStrategy(planned.value.plan, kept.value, kept.kept);
  if (options.json === true) return print(costs === null ? planned.value.plan : { ...planned.value.plan, costs });
  const { renderCostsText, renderPlanText } = await import("../report/text.ts");
  const style = { colour: paintOn(process.stdout) };
  const table = costs === null ? "" : `\n${renderCostsText(options.target ?? "", costTable(costs), style)}`;
  const compiled = kept === null ? null : brokerOf(kept.value).compile(planned.value.plan, kept.value);
  const contracts = compiled?.ok === true ? compiled.value.contracts : [];
  return print(`${renderPlanText(planned.value.plan, style, contracts)}${table}`);
}

export async function compileCommand(
  file: string,
  options: ForTarget & { readonly format: string; readonly vhost?: string; readonly output?: string },
): Promise<number> {
  const target = loadTarget(options.target, options.strategy);
  const misuse = target.ok ? misuseOf(target.value, options) : null;
  if (misuse !== null) return usage(misuse, { json: options.json });
  const proved = await compileFile(file, options, (planned) =>
    targetFor(planned, options.target, options.strategy, target),
  );
  if (!proved.ok) return proved.exitCode;
  const { exportFormats, diagnoseExport, defaultNamespace } = brokerOf(proved.target);
  const { compiled, warnings } = proved;
  const write = exportFormats[options.format];
  const diagnostics = diagnoseExport?.(compiled, options.format) ?? [];
  if (hasErrors(diagnostics)) return refuse(file, diagnostics, options);
  warn(file, diagnostics, options);
  const whole = { ...compiled, input: { declaration: proved.system, target: proved.target }, warnings };
  return print(write === undefined ? whole : write(compiled, options.vhost ?? defaultNamespace), options.output);
}

/** Reports an option that belongs to another broker than the target's. */
function misuseOf(
  target: Target,
  { format, vhost }: { readonly format: string; readonly vhost?: string },
): string | null {
  const { title, exportFormats, defaultNamespace } = brokerOf(target);
  const formats = ["json", ...Object.keys(exportFormats)];
  if (!formats.includes(format)) return `${title} has no format ${format}; its formats are ${formats.join(", ")}`;
  if (vhost !== undefined && defaultNamespace === null)
    return `${title} has no virtual hosts, so --vhost means nothing`;
  if (holdsPassword(vhost)) return "--vhost is the name of a virtual host, and not its URL";
  return null;
}

export async function contractCommand(
  file: string,
  consumer: string,
  options: ForTarget & { readonly markdown?: boolean; readonly client?: string; readonly output?: string },
): Promise<number> {
  const { client = "" } = options;
  const proved = await compileFile(file, options);
  if (!proved.ok) return proved.exitCode;
  const { contracts } = proved.compiled;
  const contract = contracts.find((each) => each.consumer === consumer);
  if (contract === undefined) {
    const declared = contracts.map((each) => each.consumer).join(", ");
    return usage(`no consumer named ${JSON.stringify(consumer)} is declared in ${file}; declared are ${declared}`, {
      json: options.json,
    });
  }
  if (options.json === true) return print(contract, options.output);
  if (options.markdown === true || client !== "") {
    const { renderContractPage } = await import("../report/contract-page/contract-page.ts");
    const pages = await brokerOf(proved.target).loadContractPages();
    const all = pages.clientsOf(contract);
    const chosen = all.filter(({ title }) => title.toLowerCase().includes(client.toLowerCase()));
    if (client !== "" && chosen.length === 0) {
      const titles = all.map(({ title }) => title).join("; ");
      return usage(`no client has ${JSON.stringify(client)} in its name; the page has ${titles}`, {});
    }
    return print(
      renderContractPage(contract, { ...pages, clientsOf: () => chosen }, (file) => readPackaged(`src/${file}`)),
      options.output,
    );
  }
  const { renderContractText } = await import("../report/text.ts");
  return print(renderContractText(contract), options.output);
}

const drawings = {
  mermaid: async (graph: Graph) => (await import("../report/mermaid.ts")).renderMermaid(graph),
  dot: async (graph: Graph) => (await import("../report/dot.ts")).renderDot(graph),
  svg: async (graph: Graph) => (await import("../report/svg.ts")).renderSvg(graph),
};

export async function graphCommand(
  file: string,
  options: ForTarget & { readonly format: keyof typeof drawings; readonly output?: string },
): Promise<number> {
  const proved = await compileFile(file, options);
  if (!proved.ok) return proved.exitCode;
  const graph = brokerOf(proved.target).graphOf(proved.compiled);
  if (options.json === true) return print(graph, options.output);
  return print(await drawings[options.format](graph), options.output);
}

export async function reportCommand(
  file: string,
  options: {
    readonly target: readonly string[];
    readonly strategy: string;
    readonly output: string;
    readonly json?: boolean;
  },
): Promise<number> {
  const answer = { json: options.json };
  const planned = await loadPlan(file);
  if (!planned.ok) return refuse(file, planned.diagnostics, answer, planned.locate);
  const { writeReport } = await import("./write-report.ts");
  const all = [];
  for (const text of options.target) {
    const named = namesIn(text) === undefined ? planned : await loadPlan(file, text);
    const proved = await compilePlan(file, named, targetFor(named, text, options.strategy), answer);
    if (!proved.ok) return proved.exitCode;
    all.push(proved);
  }
  const written = await writeReport(planned.value.plan, all, options.output).catch((cause: unknown) => cause as Error);
  if (written instanceof UnwritableError)
    return usage(`${options.output} cannot be written: ${written.message}`, answer);
  if (written instanceof Error) throw written;
  return print(options.json === true ? { written: written.written } : written.text);
}

interface PlannedSystem extends Partial<Pick<Kept, "kept">> {
  readonly system: System;
  readonly plan: Plan;
}

/** A declaration with its plan, or the reasons of its refusal. It has the places in the file, if they are known. */
export type Planned = Checked<PlannedSystem> & {
  readonly locate?: Locate;
  readonly own?: ReturnType<typeof namesIn>;
};

/** @param target if it is an environment with names, these replace the names of the declaration */
export async function loadPlan(file: string, target?: string): Promise<Planned> {
  const loaded = await loadDeclaration(file);
  const own = loaded.ok ? namesIn(target) : undefined;
  const system = own === undefined ? loaded : { ...loaded, ...withNames(loaded, own) };
  return system.ok ? { ...system, own, value: { system: system.value, plan: plan(system.value) } } : system;
}

function withNames(loaded: Checked<System>, own: NonNullable<Planned["own"]>): Checked<System> {
  if (!loaded.ok) return loaded;
  const checked = checkSystem({ ...loaded.value, names: { ...loaded.value.names, ...own.names } });
  return checked.ok ? checked : { ok: false, diagnostics: checked.diagnostics.map((each) => inNames(each, own)) };
}

export interface ProvedFile extends Proved, PlannedSystem {
  /** The places in the file, if they are known. */
  readonly locate: Locate | undefined;
  readonly own?: Planned["own"];
  readonly warnings: readonly Diagnostic[];
}
type ProvedOrRefused = ({ readonly ok: true } & ProvedFile) | { readonly ok: false; readonly exitCode: number };

/** @param target finds the target. By default `auto` keeps the deployed strategies */
export async function compileFile(
  file: string,
  options: ForTarget,
  target: (planned: Planned) => KeptTarget = (planned) => targetFor(planned, options.target, options.strategy),
): Promise<ProvedOrRefused> {
  const planned = await loadPlan(file, options.target);
  const proved = await compilePlan(file, planned, target(planned), options);
  if (!proved.ok) return proved;
  const warnings = waiveFor(options, proved.warnings);
  warn(file, warnings, options, planned.locate);
  return { ...proved, warnings };
}

/** Compiles and proves. It reports a refusal, and leaves warnings to others. */
export async function compilePlan(
  file: string,
  planned: Planned,
  target: KeptTarget,
  answer: Answer,
): Promise<ProvedOrRefused> {
  const proved = proveLoaded(planned, target);
  // Names are looked at with the declaration. A target has tags and the like.
  if (proved.ok && holdsPassword(proved.value.compiled.topology)) {
    const message = "the target seems to contain a password, which would appear in clear in every output";
    return { ok: false, exitCode: await usage(message, { json: answer.json }) };
  }
  const { locate, own } = planned;
  if (proved.ok) return { ok: true, ...proved.value, locate, own, warnings: proved.warnings };
  const isInFile = proved.diagnostics.some((each) => !isOfTarget(each));
  return {
    ok: false,
    exitCode: await refuse(isInFile ? file : undefined, proved.diagnostics, answer, planned.locate),
  };
}

/** Marks the warnings that the project file accepts. The words of the command are read from it before. */
export function waiveFor(
  { project }: Pick<ForTarget, "project">,
  warnings: readonly Diagnostic[],
): readonly (Diagnostic & Reported)[] {
  const read = project === undefined ? null : readProject(project);
  return read?.ok === true ? waive(warnings, read.value, todayUtc()) : warnings;
}

/** Compiles and proves, and prints nothing. A refused target comes before a refused declaration. */
export function proveLoaded(planned: Planned, target: KeptTarget): Checked<Proved & PlannedSystem> {
  if (!target.ok) return target;
  if (!planned.ok) return planned;
  const { consumers } = planned.value.plan;
  tell({ kind: "working", on: `the proof of ${count(consumers.length, "consumer")} on ${target.value.broker}` });
  const proved = provePlan(planned.value.plan, target.value);
  tell({ kind: "working", on: null });
  if (!proved.ok) return { ...proved, diagnostics: proved.diagnostics.map((each) => inNames(each, planned.own)) };
  const { system } = planned.value;
  const { kept = [] } = target;
  const compiled = kept.length === 0 ? proved.value.compiled : withKept(proved.value.compiled, kept);
  return {
    ...proved,
    value: { ...proved.value, compiled, system, kept },
    warnings: [...planned.warnings, ...proved.warnings],
  };
}

function withKept(compiled: CompiledSystem, kept: readonly string[]): CompiledSystem {
  const choices = compiled.choices.map((each) => (kept.includes(each.consumer) ? keptByLock(each) : each));
  return { ...compiled, choices } as CompiledSystem;
}

/** The codes of diagnostics about the target of the command line, not about the file. */
const targetCodes: ReadonlySet<string> = new Set("RD201 RD221 RD321 RD617 RD618".split(" "));

/** A diagnostic about the file of a target has its place there. */
function isOfTarget({ code, place }: Reported): boolean {
  return targetCodes.has(code) || place !== undefined;
}

/** The exit code of a refusal. An unreadable file and an unknown target are wrong usage. */
export function exitCodeOf(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.every((each) => each.code === "RD001" || (each.code !== "RD323" && isOfTarget(each)))
    ? exitCodes.usage
    : exitCodes.refused;
}

function refuse(
  file: string | undefined,
  diagnostics: readonly Diagnostic[],
  answer: Answer,
  locate?: Locate,
): Promise<number> {
  return refuseAll(diagnostics, { json: answer.json }, { file, locate }, exitCodeOf(diagnostics));
}

/** Warnings go to the standard error, because they are no part of the output. */
function warn(file: string, warnings: readonly Diagnostic[], { json }: Answer, locate?: Locate): void {
  if (warnings.length > 0 && json !== true) say(warnings, { file, locate });
}
