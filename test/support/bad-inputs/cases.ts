import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

import { run } from "../../../src/cli/run.ts";
import { prepare } from "../../../src/consume/consume.ts";
import { RefusedError } from "../../../src/diagnostics/diagnostic.ts";
import * as api from "../../../src/index.ts";
import { selectRules } from "../../../src/policy/options.ts";
import { type Draw, drawBy } from "./draw.ts";
import { liveValue } from "./live-values.ts";
import { mutated, mutatedFile } from "./mutate.ts";
import { fileInputs, modules, options, words } from "./valid-inputs.ts";

/** The fault in the way that a case ended; null for none. */
export type Complaint = string | null;

/** The longest allowed answer. A person has to read it, or to pay for the log. */
const mostOutput = 64_000_000;
const trace = /^ {4,}at .*:\d+:\d+/m;

/**
 * Runs one case.
 *
 * @param folder the folder for its files
 * @returns its name, and its fault
 */
export async function runCase(
  seed: number,
  index: number,
  folder: string,
): Promise<{ readonly name: string; readonly complaint: Complaint }> {
  const draw = drawBy(seed + index * 7_919);
  const kind = index % (fileInputs.length + 4);
  const input = fileInputs[kind];
  if (input !== undefined) {
    const extension = draw.of(input.extensions);
    const file = join(folder, `case-${index}.${extension}`);
    const valid = draw.of(input.valid);
    writeFileSync(file, mutatedFile(valid, draw, extension));
    const line = draw
      .of(input.words)
      .map((word) => (word === "FILE" ? file : word === "VALID" ? preview(folder) : word));
    return { name: `${input.name}: redeliver ${line.join(" ")}`, complaint: await complaintOfRun(line) };
  }
  if (kind === fileInputs.length) {
    const line = mutated(draw.of(words), draw, (by) => by.of(wordsToTry)) as unknown;
    const given = [line].flat(9).filter((word) => typeof word === "string");
    return { name: `words: ${JSON.stringify(given)}`, complaint: await complaintOfRun(given) };
  }
  if (kind === fileInputs.length + 1) {
    const file = join(folder, `case-${index}.${draw.of(["mjs", "ts"])}`);
    const [name, text] = draw.of(modules);
    writeFileSync(file, text);
    return {
      name: `module: ${name} (${file})`,
      complaint: await complaintOfRun(["check", file, "-t", "rabbitmq@4.3"]),
    };
  }
  return complaintOfApi(draw);
}

const wordsToTry = ["", "-", "--", "--json", "--json=1", "-t", "\u0000", "\u001b[2J", "__proto__", "toString"].concat(
  ["x".repeat(100_000), "rabbitmq@", "sqs@", "@", "rabbitmq@4.3@", "NaN", "1e99", "-1", "/dev/null", "/", "\ud800"],
  ["--scenario", "--strategy", "--format", "sarif", "github", "constructor", "servicebus@\u0000", "http://127.0.0.1:1"],
);

function preview(folder: string): string {
  const file = join(folder, "preview.json");
  const valid = fileInputs.find(({ name }) => name === "preview")?.valid[0];
  writeFileSync(file, JSON.stringify(valid));
  return file;
}

/** Checks the output and the exit of the command line. */
async function complaintOfRun(line: readonly string[]): Promise<Complaint> {
  const pieces: string[] = [];
  let size = 0;
  const keep = (text: string, written?: () => void): true => {
    size += text.length;
    if (size < mostOutput) pieces.push(text);
    written?.();
    return true;
  };
  const { write: writeOut } = process.stdout;
  const { write: writeError } = process.stderr;
  process.stdout.write = keep as typeof writeOut;
  process.stderr.write = keep as typeof writeError;
  try {
    const code = await run(line);
    const printed = stripVTControlCharacters(pieces.join(""));
    if (![0, 1, 2].includes(code)) return `ends with ${code}: ${printed.slice(0, 2_000)}`;
    if (size >= mostOutput) return `prints ${size} characters`;
    if (code !== 0 && printed.trim() === "") return `ends with ${code} and says nothing`;
    return trace.test(printed) ? `prints a stack trace: ${printed.slice(0, 2_000)}` : null;
  } catch (cause) {
    return thrown(cause);
  } finally {
    process.stdout.write = writeOut;
    process.stderr.write = writeError;
  }
}

function thrown(cause: unknown): string {
  return cause instanceof Error
    ? `throws ${(cause.stack ?? cause.message).slice(0, 2_000)}`
    : "throws what is no Error";
}

const [declaration, target, scenario, policy] = ["declaration", "target", "scenario", "policy options"].map((name) =>
  fileInputs.find((each) => each.name === name),
);

/** Live values go to places that no file can bring them to. */
function complaintOfApi(draw: Draw): { readonly name: string; readonly complaint: Complaint } {
  const change = (valid: unknown): unknown => (draw.below(8) === 0 ? liveValue(draw) : mutated(valid, draw, liveValue));
  const valid = draw.of(declaration?.valid ?? []) as never;
  const system = api.checkSystem(valid);
  if (!system.ok) throw new Error("the valid declaration is not valid");
  const wrong = (from: readonly unknown[] | undefined): never => change(draw.of(from ?? [])) as never;
  const [name, call] = draw.of<readonly [string, () => unknown]>([
    ["checkSystem", () => api.checkSystem(wrong(declaration?.valid))],
    ["defineSystem", () => api.defineSystem(wrong(declaration?.valid))],
    ["compile, its system", () => api.compile(wrong([system.value]), { broker: "rabbitmq", version: "4.3" })],
    ["compile, its target", () => api.compile(system.value, wrong(target?.valid))],
    ["parseTarget", () => api.parseTarget(wrong(["rabbitmq@4.3"]))],
    ["checkScenario", () => api.checkScenario(wrong(scenario?.valid), [{ consumer: "billing", hasRetryAfter: false }])],
    ["selectRules", () => selectRules(wrong(policy?.valid))],
    ["consume, its options", () => prepare(system.value, "billing", wrong(options))],
    ["consume, its system", () => prepare(wrong([system.value]), "billing", options[0])],
    ["consume, its consumer", () => prepare(system.value, wrong(["billing"]), options[0])],
  ]);
  return { name: `api: ${name}`, complaint: complaintOfCall(call) };
}

function complaintOfCall(call: () => unknown): Complaint {
  try {
    const result = call() as { readonly ok?: unknown; readonly diagnostics?: readonly api.Diagnostic[] };
    if (result.ok === false) return complaintOfDiagnostics(result.diagnostics ?? []);
    return null;
  } catch (cause) {
    return cause instanceof RefusedError ? complaintOfDiagnostics(cause.diagnostics) : thrown(cause);
  }
}

/** People read a refusal, and programs pass it on. */
function complaintOfDiagnostics(diagnostics: readonly api.Diagnostic[]): Complaint {
  if (diagnostics.length === 0) return "refuses and says nothing";
  try {
    const text = `${api.renderDiagnostics(diagnostics)}${JSON.stringify(diagnostics)}`;
    return text.length > mostOutput ? `says ${text.length} characters` : null;
  } catch (cause) {
    return `its diagnostics cannot be shown: ${thrown(cause)}`;
  }
}
