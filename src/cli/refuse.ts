import { relative, resolve } from "node:path";

import { maskedValue } from "../diagnostics/mask-credentials.ts";
import type { Locate } from "../diagnostics/region.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import type { Reported } from "../diagnostics/reported.ts";
import type { SarifRule } from "../diagnostics/sarif.ts";
import { visible } from "../diagnostics/visible.ts";
import { exitCodes } from "./exit-codes.ts";
import { paintOn, print, writeError } from "./output.ts";
import { ownVersion, pageOf } from "./read-packaged.ts";

/** The requested form of an answer. */
export interface Answer {
  readonly json?: boolean | undefined;
  /** The tool that reads the answer and shows diagnostics beside the code. */
  readonly tool?: "sarif" | "github" | undefined;
  /** The file of the answer. Left out if the file is for deployment or storage, because no refusal may replace it. */
  readonly output?: string | undefined;
}

/** The options of a command with formats for refusals. `--json` is short for one of them. */
export interface ReportOptions {
  readonly format: "text" | "json" | "sarif" | "github";
  readonly json?: boolean;
  readonly output?: string;
}

/** The asked format. `--json` is short for one. */
export function formatOf<Format>({ json, format }: { json?: boolean | undefined; format: Format }): Format | "json" {
  return json === true ? "json" : format;
}

/** The form of a refusal in the asked format. */
export function answerOf(options: { json?: boolean | undefined; format: string; output?: string | undefined }): Answer {
  const format = formatOf(options);
  const tool = format === "sarif" || format === "github" ? format : undefined;
  return { json: format === "json", tool, output: options.output };
}

/** The subject of diagnostics. */
export interface About {
  readonly file?: string | undefined;
  readonly locate?: Locate | undefined;
}

/**
 * Reports that there is no answer. A person reads it on the standard error. A program finds it in place of the log, so
 * that a valid log always exists.
 *
 * @returns the exit code; that of wrong usage if the output cannot be written
 */
export async function refuse(
  diagnostics: readonly Reported[],
  answer: Answer,
  about: About,
  exitCode: number,
): Promise<number> {
  const { json, tool, output } = answer;
  if (json === true) return ended(await print({ ok: false, diagnostics }, output), exitCode);
  if (tool !== undefined) return ended(await print(await renderedForTools(diagnostics, tool, about), output), exitCode);
  say(diagnostics, about);
  return exitCode;
}

/** Shows diagnostics to a person, beside the output. */
export function say(diagnostics: readonly Reported[], { file, locate }: About): void {
  writeError(
    `${renderDiagnostics(diagnostics, { colour: paintOn(process.stderr), ...(file === undefined ? {} : { file, locate }) })}\n`,
  );
}

/** Reports a mistake in the words of the command line. */
export async function usage(message: string, { json, output }: Answer): Promise<number> {
  if (json === true) await print({ ok: false, usage: message }, output);
  else writeError(`error: ${visible(message)}\n`);
  return exitCodes.usage;
}

/** The exit code of a command that has printed its answer. */
export function ended(printed: number, exitCode: number): number {
  return printed === exitCodes.fine ? exitCode : printed;
}

/** Code scanning knows files by their paths from the root of the repository, where workflows run. */
export function fileForTools(file: string): string {
  return String(maskedValue(relative("", resolve(file)))) || ".";
}

/** Renders diagnostics for a tool that shows them beside the code: the data of a log, or the text of annotations. */
export async function renderedForTools(
  diagnostics: readonly Reported[],
  format: "sarif" | "github",
  { file, locate }: About,
  ruleOf?: (code: string) => SarifRule,
): Promise<unknown> {
  // A running broker is no file.
  const place = file === undefined ? {} : { file: fileForTools(file), locate };
  if (format === "sarif") {
    const { sarifLog } = await import("../diagnostics/sarif.ts");
    return sarifLog(diagnostics, { ...place, version: ownVersion(), ruleOf, pageOf });
  }
  const { renderGithub } = await import("../diagnostics/github.ts");
  return renderGithub(diagnostics, place);
}
