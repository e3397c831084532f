import { extname } from "node:path";

import { brokerOf } from "../brokers/index.ts";
import { parseText } from "../declare/parse.ts";
import { type Checked, RefusedError, accepted, refuseWhole } from "../diagnostics/diagnostic.ts";
import { checkScenario } from "../simulate/check-scenario.ts";
import type { SimulationResult } from "../simulate/result.ts";
import type { Scenario } from "../simulate/scenario.ts";
import { type Progress, simulate } from "../simulate/simulate.ts";
import { type ProvedFile, type ForTarget, compileFile } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { isDeclaration } from "./is-declaration.ts";
import { paintOn, print, showProgress } from "./output.ts";
import { refuse } from "./refuse.ts";
import { readText } from "./read-text.ts";

interface SimulateOptions extends ForTarget {
  readonly scenario?: string;
  readonly seed?: number;
  readonly output?: string;
}

export async function simulateCommand(file: string, options: SimulateOptions): Promise<number> {
  const proved = await compileFile(file, options);
  if (!proved.ok) return proved.exitCode;
  const scenario = loadScenario(options, proved);
  if (!scenario.ok)
    return refuse(scenario.diagnostics, { json: options.json }, { file: options.scenario }, exitCodes.usage);
  const { target, compiled, warnings } = proved;
  const progress = progressLine(scenario.value);
  const result = played(() => simulate(brokerOf(target).subjectsOf(compiled, target), scenario.value, progress.report));
  progress.end();
  if (!result.ok) return refuse(result.diagnostics, { json: options.json }, { file }, exitCodes.usage);
  if (options.json === true) return print({ target: compiled.target, ...result.value, warnings }, options.output);
  const { renderSimulation } = await import("../report/simulation.ts");
  const isTerminal = options.output === undefined && process.stdout.isTTY;
  const text = renderSimulation(compiled.target, result.value, {
    colour: paintOn(process.stdout, options.output),
    columns: isTerminal ? process.stdout.columns : 80,
  });
  return print(text, options.output);
}

function played(play: () => SimulationResult): Checked<SimulationResult> {
  try {
    return accepted(play());
  } catch (cause) {
    if (cause instanceof RefusedError) return { ok: false, diagnostics: cause.diagnostics };
    throw cause;
  }
}

/** Reads and checks the scenario of the command line. Without one, the defaults are played. */
function loadScenario(options: SimulateOptions, { compiled }: ProvedFile): Checked<Scenario> {
  const written = options.scenario === undefined ? undefined : readScenario(options.scenario);
  if (written?.ok === false) return written;
  const simulated = compiled.contracts
    .filter(({ workQueue }) => workQueue !== null)
    .map(({ consumer, retryAfter }) => ({ consumer, hasRetryAfter: retryAfter !== undefined }));
  return checkScenario(written?.value ?? {}, simulated, options.seed);
}

function readScenario(file: string): Checked<unknown> {
  const extension = extname(file).toLowerCase();
  if (![".json", ".yaml", ".yml"].includes(extension))
    return refuseWhole(
      "RD001",
      `a scenario is a .json, .yaml or .yml file; this one ends in ${extension || "nothing"}`,
      "rename it",
    );
  const read = readText(file);
  if (!read.ok) return read;
  const parsed = parseText(read.value, extension === ".json" ? "json" : "yaml");
  if (parsed.ok && isDeclaration(parsed.value)) {
    const help = "name a scenario with --scenario; without it the defaults apply";
    return refuseWhole("RD501", "this is a declaration, and a scenario has arrivals and events", help);
  }
  if (parsed.ok) return parsed;
  const help = "write for example duration: 1h; without --scenario the defaults apply";
  const diagnostics = parsed.diagnostics.map((each) => (each.code === "RD004" ? { ...each, help } : each));
  return { ok: false, diagnostics };
}

/** A line with the progress of a long run, for a person at a terminal. It vanishes at the end of the run. */
function progressLine({ durationMs }: Scenario): { report: (progress: Progress) => void; end: () => void } {
  const startedAtMs = performance.now();
  let shownAtMs = startedAtMs;
  const isShown = (): boolean => shownAtMs > startedAtMs;
  return {
    report: ({ part, atMs, events }) => {
      const nowMs = performance.now();
      if (!process.stderr.isTTY || nowMs - shownAtMs < (isShown() ? 100 : 1_000)) return;
      shownAtMs = nowMs;
      const percent = Math.min(100, Math.floor((100 * atMs) / durationMs));
      const what = part === "scenario" ? `${percent}% of the arrivals` : "looking for the timeline of one message";
      showProgress(`${what}, ${events.toLocaleString("en")} events`);
    },
    end: () => {
      if (isShown()) showProgress("");
    },
  };
}
