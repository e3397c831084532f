import { brokerOf } from "../brokers/index.ts";
import type { Drift } from "../brokers/drift.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import { choosePart } from "../migrate/adopt.ts";
import {
  againstBroker,
  againstDeclaration,
  driftBetween,
  driftDiagnostics,
  driftFrom,
  judgeDrift,
  otherDiagnostics,
} from "../migrate/judge-drift.ts";
import type { ComparedDrift } from "../report/drift.ts";
import { type AuditSource, auditedBrokers, fileOf, sourcesIn } from "./audit-source.ts";
import { type ProvedFile, compileFile } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { loadTarget } from "./load-target.ts";
import { paintOn, print } from "./output.ts";
import { answerOf, ended, formatOf, refuse, renderedForTools, usage } from "./refuse.ts";
import { settled } from "./settled.ts";

/** The options of the command line. Each broker names the options for its files. */
export interface DiffOptions extends Readonly<Record<string, unknown>> {
  readonly target: string;
  readonly strategy: string;
  readonly format: "text" | "json" | "sarif" | "github" | "markdown";
  readonly json?: boolean;
  readonly output?: string;
  readonly part?: string;
}

/**
 * Compares a declaration with a broker, or with a newer declaration, and judges each difference by the model. It only
 * reads.
 *
 * @returns the exit code: fine without a difference, refused with one, usage for wrong usage, incomplete if it could not
 *   look at everything
 */
export async function diffCommand(file: string, other: string | undefined, options: DiffOptions): Promise<number> {
  const answer = answerOf(options);
  const sources = sourcesIn(options);
  const [source] = sources;
  if (sources.length + (other === undefined ? 0 : 1) !== 1 || source?.kind === "stack") {
    const files = auditedBrokers().map(({ auditor }) => `--${auditor.file.option} FILE`);
    return usage(
      `diff takes one of --url URL (or managementUrl of the environment), ${files.join(", ")} and a second declaration`,
      answer,
    );
  }
  if (source === undefined && options.part !== undefined)
    return usage("--part chooses a part of a broker's export, and a second declaration has none", answer);
  const target = loadTarget(options.target, options.strategy);
  const asked = { ...answer, target: options.target, strategy: options.strategy };
  if (target.ok) {
    const { title } = brokerOf(target.value);
    if (source !== undefined && source.audited.name !== target.value.broker)
      return usage(`the target is one of ${title}, but the input is of another broker`, answer);
  }
  const proved = await compileFile(file, asked);
  if (!proved.ok) return proved.exitCode;
  const next = other === undefined ? null : await compileFile(other, asked);
  if (next?.ok === false) return next.exitCode;
  const drift =
    source === undefined ? driftBetween(proved, next as ProvedFile) : await compareSource(source, proved, options.part);
  // A broker that refuses the user has more to show. Any other refusal is a mistake in the command.
  if (!drift.ok) {
    const isHidden = drift.diagnostics.some(({ code }) => code === "RD408");
    return refuse(
      drift.diagnostics,
      answer,
      { file: fileOf(source ?? null) },
      isHidden ? exitCodes.incomplete : exitCodes.usage,
    );
  }
  const judged = judgeDrift(drift.value);
  const compared = {
    title: `${proved.compiled.topology.system} on ${proved.compiled.target}`,
    judged,
    words: source === undefined ? againstDeclaration : againstBroker,
    others: [...otherDiagnostics(drift.value), ...drift.warnings],
    costs: next === null || judged.length === 0 ? null : await costsOf(proved, next),
  };
  const { unread, keptLetters } = drift.value;
  const isEqual = compared.judged.length === 0 && keptLetters.length === 0;
  const isIncomplete = unread.length > 0 || drift.warnings.some(({ code }) => code === "RD409");
  const exitCode = isIncomplete ? exitCodes.incomplete : isEqual ? exitCodes.fine : exitCodes.refused;
  const text = await rendered(formatOf(options), compared, file, exitCode === exitCodes.fine);
  return ended(await print(text, options.output), exitCode);
}

async function costsOf(proved: ProvedFile, next: ProvedFile): Promise<ComparedDrift["costs"]> {
  const { costsByStrategy } = await import("../report/costs.ts");
  const [before, after] = [proved, next].map(({ plan, target, kept }) => costsByStrategy(plan, target, kept));
  return { target: proved.compiled.target, before: before ?? [], after: after ?? [] };
}

async function compareSource(
  source: AuditSource,
  proved: ProvedFile,
  part: string | undefined,
): Promise<Checked<Drift<unknown>>> {
  const found = await settled(
    source,
    proved.target,
    (whole) => {
      const chosen = choosePart(whole, proved.target, { queues: [], part });
      return chosen.ok ? driftFrom(chosen.value.deployment, proved) : chosen;
    },
    (drift) => drift,
  );
  return found.ok ? { ...found, value: found.value.drift } : found;
}

async function rendered(
  format: DiffOptions["format"],
  compared: ComparedDrift,
  file: string,
  ok: boolean,
): Promise<unknown> {
  const { renderDriftMarkdown, renderDriftText } = await import("../report/drift.ts");
  const { judged, words, others, costs } = compared;
  switch (format) {
    case "text":
      return renderDriftText(compared, paintOn(process.stdout));
    case "markdown":
      return renderDriftMarkdown(compared);
    case "json":
      return {
        ok,
        differences: judged,
        diagnostics: [...driftDiagnostics(judged, words), ...others],
        ...(costs === null ? {} : { costs: { before: costs.before, after: costs.after } }),
      };
    case "sarif":
    case "github":
      return renderedForTools([...driftDiagnostics(judged, words), ...others], format, { file });
    default:
      return format satisfies never;
  }
}
