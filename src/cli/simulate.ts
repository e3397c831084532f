import { readFile } from "node:fs/promises";
import { extname } from "node:path";

import { brokerOf } from "../brokers/index.ts";
import { parseText } from "../declare/parse.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { checkScenario } from "../simulate/check-scenario.ts";
import type { Scenario } from "../simulate/scenario.ts";
import type { Progress } from "../simulate/simulate.ts";
import { simulate } from "../simulate/simulate.ts";
import type { CompiledFor, ForTarget } from "./commands.ts";
import { compileFile, print } from "./commands.ts";
import { exitCodes } from "./run.ts";

interface SimulateOptions extends ForTarget {
  readonly scenario?: string;
  readonly seed?: number;
  readonly output?: string;
}

/** Compiles, then plays a scenario on the proved model of the broker. */
export async function simulateCommand(file: string, options: SimulateOptions): Promise<number> {
  const compiled = await compileFile(file, options);
  if (!compiled.ok) return compiled.exitCode;
  const scenario = await loadScenario(options, compiled);
  if (!scenario.ok) {
    if (options.json === true) await print({ ok: false, diagnostics: scenario.diagnostics });
    else {
      const place = options.scenario === undefined ? {} : { file: options.scenario };
      const colour = process.stderr.hasColors?.() ?? false;
      process.stderr.write(`${renderDiagnostics(scenario.diagnostics, { colour, ...place })}\n`);
    }
    return exitCodes.usage;
  }
  const { target, value, warnings } = compiled;
  const progress = progressLine(scenario.value);
  const result = simulate(brokerOf(target).subjectsOf(value, target), scenario.value, progress.report);
  progress.end();
  if (options.json === true) return print({ target: value.target, ...result, warnings }, options.output);
  const { renderSimulation } = await import("../report/simulation.ts");
  const isTerminal = options.output === undefined && process.stdout.isTTY;
  const text = renderSimulation(value.target, result, {
    colour: options.output === undefined && (process.stdout.hasColors?.() ?? false),
    columns: isTerminal ? process.stdout.columns : 80,
  });
  return print(text, options.output);
}

/** Reads and checks the scenario of the command line; without one the defaults are played. */
async function loadScenario(options: SimulateOptions, { value }: CompiledFor): Promise<Checked<Scenario>> {
  const written = options.scenario === undefined ? undefined : await readScenario(options.scenario);
  if (written?.ok === false) return written;
  const simulated = value.contracts
    .filter(({ workQueue }) => workQueue !== null)
    .map(({ consumer, retryAfter }) => ({ consumer, hasRetryAfter: retryAfter !== undefined }));
  return checkScenario(written?.value ?? {}, simulated, options.seed);
}

async function readScenario(file: string): Promise<Checked<unknown>> {
  const extension = extname(file).toLowerCase();
  if (![".json", ".yaml", ".yml"].includes(extension)) {
    return refuse(`a scenario is a .json, .yaml or .yml file; this one ends in ${extension || "nothing"}`, "rename it");
  }
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => cause);
  if (text instanceof Error) {
    const message = text.code === "ENOENT" ? "there is no such file" : `the file cannot be read: ${text.code}`;
    return refuse(message, "check the path");
  }
  const parsed = parseText(text, extension === ".json" ? "json" : "yaml");
  if (parsed.ok) return parsed;
  const help = "write for example duration: 1h; without --scenario the defaults are played";
  const diagnostics = parsed.diagnostics.map((each) => (each.code === "RD004" ? { ...each, help } : each));
  return { ok: false, diagnostics };
}

function refuse(message: string, help: string): Checked<never> {
  return { ok: false, diagnostics: [diagnostic("RD001", { path: "", message, help })] };
}

/** A line that says how far a long run is, for whoever sits before a terminal. It vanishes when the run is over. */
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
      process.stderr.write(`\r${what}, ${events.toLocaleString("en")} events\u001B[K`);
    },
    end: () => {
      if (isShown()) process.stderr.write("\r\u001B[K");
    },
  };
}
