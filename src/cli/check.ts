import { brokerOf } from "../brokers/index.ts";
import { type CheckedChange, type FromOptions, checkChange } from "./check-change.ts";
import { compileFile, exitCodeOf, loadPlan, proveLoaded, waiveFor } from "./commands.ts";
import { type LockPlace, lockPlaceOf, targetFor } from "./lock-file.ts";
import { nothingCompared } from "./missing-lock.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { endedWaivers, readProject, todayUtc } from "./project.ts";
import { answerOf, ended, fileForTools, formatOf, refuse, renderedForTools, say, usage } from "./refuse.ts";

interface CheckOptions extends FromOptions {
  readonly format: "text" | "json" | "sarif" | "github";
  readonly output?: string;
}

/**
 * Compiles, then proves the promises of every consumer, and the change from a deployed declaration if one is named. The
 * output is for a person, a program, or a tool that shows it beside the code.
 */
export async function checkCommand(file: string, options: CheckOptions): Promise<number> {
  const format = formatOf(options);
  if (options.fromTarget !== undefined && options.from === undefined) {
    const message = "--from-target is the target of the deployed declaration: name that declaration with --from";
    return usage(message, { json: format === "json", output: options.output });
  }
  const over = endedIn(options.project);
  if (over.length > 0) return refuse(over, answerOf({ ...options, format }), {}, exitCodes.refused);
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

/** The waivers of the project file that have ended. */
function endedIn(project: string | undefined): readonly Diagnostic[] {
  const read = project === undefined ? null : readProject(project);
  return read?.ok === true ? endedWaivers(read.value, todayUtc()) : [];
}

async function showProof(file: string, options: CheckOptions): Promise<number> {
  const proved = await compileFile(file, options);
  if (!proved.ok) return proved.exitCode;
  const { verdicts } = proved;
  const { target, promises } = proved.compiled;
  const change = await checkChange(file, proved, options);
  if (change?.ok === false) return refuse(change.diagnostics, options, change.about, change.exitCode);
  const place = lockPlaceOf(options.target);
  const evidence = brokerOf(proved.target).evidenceOf(proved.target);
  const changeWarnings = waiveFor(options, change?.warnings ?? []);
  if (options.json === true) {
    const shown = change !== null ? { change: shownOf(change) } : place === null ? {} : { change: null };
    const warnings = [...proved.warnings, ...changeWarnings];
    return print({ target, evidence, verdicts, promises, ...shown, warnings }, options.output);
  }
  if (changeWarnings.length > 0) say(changeWarnings, { file, locate: proved.locate });
  const { renderChange, renderVerdicts } = await import("../report/verdicts.ts");
  const text = renderVerdicts(target, verdicts, promises, evidence);
  const changed = change !== null ? renderChange(change) : place === null ? "" : `\n${nothingCompared(place)}\n`;
  return print(`${text}${changed}`, options.output);
}

function shownOf({ from, isDeployed, verdicts, left, gone, counts }: CheckedChange): object {
  return { from, isDeployed, verdicts, left, gone, counts };
}

/** Refusals and warnings are the output here. So the output exists and is valid with any findings. */
async function showDiagnostics(file: string, format: "sarif" | "github", options: CheckOptions): Promise<number> {
  const planned = await loadPlan(file, options.target);
  const { locate, own } = planned;
  const proved = proveLoaded(planned, targetFor(planned, options.target, options.strategy));
  const change = proved.ok ? await checkChange(file, { ...proved.value, locate, own }, options) : null;
  if (change?.ok === false) {
    const text = await renderedForTools(change.diagnostics, format, change.about);
    return ended(await print(text, options.output), change.exitCode);
  }
  const diagnostics = proved.ok
    ? waiveFor(options, [...proved.warnings, ...(change?.warnings ?? [])])
    : proved.diagnostics;
  const text = await renderedForTools(diagnostics, format, { file, locate });
  const notice = format === "github" && proved.ok ? await noticeOf(change, file, lockPlaceOf(options.target)) : "";
  return ended(
    await print(notice === "" ? text : `${String(text)}${notice}`, options.output),
    proved.ok ? exitCodes.fine : exitCodeOf(diagnostics),
  );
}

/**
 * The counts of resources before and after a change, and the consumers that go, beside the first line of the new
 * declaration. Without a lock, that nothing is compared.
 */
async function noticeOf(change: CheckedChange | null, file: string, place: LockPlace | null): Promise<string> {
  const { renderGithubNotice } = await import("../diagnostics/github.ts");
  const beside = fileForTools(file);
  if (change === null) return place === null ? "" : renderGithubNotice("no lock", nothingCompared(place), beside);
  const { from, counts, gone, isDeployed } = change;
  if (isDeployed) return "";
  const { countsInWords, goneInWords } = await import("../report/verdicts.ts");
  const text = [countsInWords(counts), ...gone.map(goneInWords)].join("; ");
  return renderGithubNotice(`resources, change from ${from}`, text, beside);
}
