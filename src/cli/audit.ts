import { type Target, brokerOf, defaultBroker, parseTarget } from "../brokers/index.ts";
import { worstFirst } from "../foreign/finding.ts";
import { type Checked, type Diagnostic, accepted, diagnostic, hasErrors } from "../diagnostics/diagnostic.ts";
import type { AuditedPart, AuditReport } from "../report/audit-text.ts";
import { type FoundDeployment, auditedBrokers, fileOf, readSource, sourcesIn } from "./audit-source.ts";
import { exitCodes } from "./exit-codes.ts";
import { loadTarget } from "./load-target.ts";
import { paintOn, print } from "./output.ts";
import type { About, ReportOptions } from "./refuse.ts";
import { answerOf, ended, formatOf, refuse, renderedForTools, usage } from "./refuse.ts";

/** The options of the command line. Each broker names the options for its files. */
export interface AuditOptions extends ReportOptions, Readonly<Record<string, unknown>> {
  readonly target?: string;
  readonly asVersion?: string;
}

/**
 * Audits a topology that Redeliver did not create.
 *
 * @returns the exit code: fine without an error, refused with one, usage without anything to audit
 */
export async function auditCommand(options: AuditOptions): Promise<number> {
  const answer = answerOf(options);
  const [source, ...more] = sourcesIn(options);
  if (source === undefined || more.length > 0) {
    const files = auditedBrokers().map(({ auditor }) => `--${auditor.file.option} FILE`);
    const given = source === undefined ? 0 : more.length + 1;
    return usage(
      `an audit reads one of ${files.join(", ")}, --url URL, --stack FILE and --terraform-state FILE; given: ${given}`,
      answer,
    );
  }
  const about = { file: fileOf(source) };
  const refused = (diagnostics: readonly Diagnostic[]): Promise<number> =>
    refuse(diagnostics, answer, about, exitCodes.usage);
  const targets = targetsOf(options);
  if (!targets.ok) return refused(targets.diagnostics);
  const found = await readSource(source, true);
  if (!found.ok) return refused(found.diagnostics);
  const { target, upgradeTo } = targets.value;
  for (const each of [target, upgradeTo]) {
    if (each === null || found.value.some(({ audited }) => audited.name === each.broker)) continue;
    const { formatTarget, title } = brokerOf(each);
    return usage(`${formatTarget(each)} is a target of ${title}, but the input has nothing of that broker`, answer);
  }
  const reports: AuditReport[] = [];
  for (const each of found.value) {
    const report = reportOn(each, targets.value);
    if (!report.ok) return refused(report.diagnostics);
    reports.push(report.value);
  }
  const diagnostics = reports.flatMap(({ reading, parts }) => [
    ...reading,
    ...parts.flatMap((part) => part.diagnostics),
  ]);
  const text = await rendered(diagnostics, reports, options, about);
  return ended(await print(text, options.output), hasErrors(diagnostics) ? exitCodes.refused : exitCodes.fine);
}

interface Targets {
  readonly target: Target | null;
  readonly upgradeTo: Target | null;
}

/** Each target on the command line counts for its own broker. */
function reportOn({ audited, deployment, warnings }: FoundDeployment, targets: Targets): Checked<AuditReport> {
  const { name, auditor, broker } = audited;
  const ofThis = (target: Target | null): Target | null => (target?.broker === name ? target : null);
  const asked = ofThis(targets.target);
  const own = asked === null ? auditor.targetOf(deployment) : accepted(asked);
  if (!own.ok) return own;
  const target = own.value;
  if (target === null) return { ok: false, diagnostics: [withoutVersion()] };
  const upgradeTo = ofThis(targets.upgradeTo);
  const parts = auditor.partsOf(deployment).map((part): AuditedPart => ({
    name: part.name,
    queues: part.queues,
    diagnostics: worstFirst(auditor.audit(part.deployment, target, upgradeTo)),
  }));
  return accepted({
    target: auditor.rulesOf(target),
    upgradeTo: upgradeTo === null ? null : auditor.rulesOf(upgradeTo),
    evidence: broker.evidenceOf(upgradeTo ?? target),
    partNoun: auditor.partNoun,
    // An upgrade does not cause warnings about reading the source. But RD409 says that a part was not read, so that
    // part has no verdict either.
    reading: [...own.warnings, ...warnings.filter(({ code }) => upgradeTo === null || code === "RD409")],
    parts,
  });
}

/** Every source ought to name the version of its broker. */
function withoutVersion(): Diagnostic {
  return diagnostic("RD201", {
    path: "rabbitmq_version",
    message: "the version of the broker is missing",
    help: "name it with --target, such as rabbitmq@4.3",
  });
}

/** A user may write the version alone, or with the broker before it as in a target. */
function targetsOf({ target, asVersion }: AuditOptions): Checked<Targets> {
  const own = target === undefined ? null : loadTarget(target, "auto");
  if (own?.ok === false) return own;
  const broker = own?.value.broker ?? defaultBroker;
  const wanted = asVersion?.includes("@") === true ? asVersion : `${broker}@${asVersion}`;
  const next = asVersion === undefined ? null : parseTarget(wanted);
  if (next?.ok === false) return next;
  return accepted({ target: own?.value ?? null, upgradeTo: next?.value ?? null });
}

async function rendered(
  diagnostics: readonly Diagnostic[],
  reports: readonly AuditReport[],
  options: AuditOptions,
  about: About,
): Promise<unknown> {
  const format = formatOf(options);
  switch (format) {
    case "text": {
      const { renderAudit } = await import("../report/audit-text.ts");
      const colour = paintOn(process.stdout, options.output);
      return reports.map((report) => renderAudit(report, { colour })).join("\n");
    }
    case "json": {
      const { summarise } = await import("../report/audit-text.ts");
      const audits = reports.map((report) => {
        const { target, upgradeTo, evidence } = report;
        return { target, upgradeTo, evidence, ...summarise(report) };
      });
      return { ok: !hasErrors(diagnostics), audits, diagnostics };
    }
    case "sarif":
    case "github":
      return renderedForTools(diagnostics, format, about);
    default:
      return format satisfies never;
  }
}
