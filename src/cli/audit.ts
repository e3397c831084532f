import { relative, resolve } from "node:path";

import type { Target } from "../brokers/index.ts";
import { brokerOf, defaultBroker, parseTarget } from "../brokers/index.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic, hasErrors } from "../diagnostics/diagnostic.ts";
import type { AuditedPart, AuditReport } from "../report/audit-text.ts";
import { printableJson, visibleDiagnostic } from "../report/audit-text.ts";
import type { AuditSource, FoundDeployment } from "./audit-source.ts";
import { auditedBrokers, readSource, sourcesIn } from "./audit-source.ts";
import { ownVersion } from "./check.ts";
import { print } from "./commands.ts";
import { maskCredentials } from "./mask-credentials.ts";
import { exitCodes } from "./run.ts";

/** The options of the command line; those that name a file of a broker have names that the broker gives. */
export interface AuditOptions extends Readonly<Record<string, unknown>> {
  readonly target?: string;
  readonly asVersion?: string;
  readonly format: "text" | "json" | "sarif" | "github";
  readonly json?: boolean;
  readonly output?: string;
}

/** How the output is asked for, and what it is about. */
interface Asked {
  readonly options: AuditOptions;
  readonly source: AuditSource | null;
}

/**
 * Judges a topology that Redeliver did not make.
 *
 * @returns the exit code: fine where no error was found, refused where one was, usage where there is nothing to judge
 */
export async function auditCommand(options: AuditOptions): Promise<number> {
  const [source, ...more] = sourcesIn(options);
  if (source === undefined || more.length > 0) {
    const files = auditedBrokers.map(({ auditor }) => `--${auditor.file.option} FILE`);
    const given = source === undefined ? 0 : more.length + 1;
    const message = `an audit reads one of ${files.join(", ")}, --url URL and --stack FILE; given are ${given}`;
    return usage(message, { options, source: null });
  }
  const asked = { options, source };
  const targets = targetsOf(options);
  if (!targets.ok) return refuse(targets.diagnostics, asked);
  const found = await readSource(source);
  if (!found.ok) return refuse(found.diagnostics, asked);
  const { target, upgradeTo } = targets.value;
  for (const each of [target, upgradeTo]) {
    if (each === null || found.value.some(({ audited }) => audited.name === each.broker)) continue;
    const { formatTarget, title } = brokerOf(each);
    return usage(`${formatTarget(each)} is a target of ${title}, and there is nothing of it in what was read`, asked);
  }
  const reports: AuditReport[] = [];
  for (const each of found.value) {
    const report = reportOn(each, targets.value);
    if (!report.ok) return refuse(report.diagnostics, asked);
    reports.push(report.value);
  }
  return show(reports, asked);
}

interface Targets {
  readonly target: Target | null;
  readonly upgradeTo: Target | null;
}

/** The targets on the command line count for their own broker. */
function reportOn({ audited, deployment, warnings }: FoundDeployment, targets: Targets): Checked<AuditReport> {
  const { name, auditor, broker } = audited;
  const ofThis = (target: Target | null): Target | null => (target?.broker === name ? target : null);
  const asked = ofThis(targets.target);
  const own = asked === null ? auditor.targetOf(deployment) : { ok: true as const, value: asked, warnings: [] };
  if (!own.ok) return own;
  const target = own.value;
  if (target === null) return { ok: false, diagnostics: [withoutVersion()] };
  const upgradeTo = ofThis(targets.upgradeTo);
  const parts = auditor.partsOf(deployment).map((part): AuditedPart => ({
    name: part.name,
    queues: part.queues,
    diagnostics: auditor.audit(part.deployment, target, upgradeTo),
  }));
  return {
    ok: true,
    warnings: [],
    value: {
      target: auditor.rulesOf(target),
      upgradeTo: upgradeTo === null ? null : auditor.rulesOf(upgradeTo),
      evidence: broker.evidenceOf(upgradeTo ?? target),
      partNoun: auditor.partNoun,
      reading: [...own.warnings, ...warnings],
      parts,
    },
  };
}

/** Whatever the source is, it ought to say which broker it comes from. */
function withoutVersion(): Diagnostic {
  return diagnostic("RD201", {
    path: "rabbitmq_version",
    message: "it is not said which version the broker has",
    help: "say it with --target, such as rabbitmq@4.3",
  });
}

/** The version may be written with the broker before it, as a target is, or by itself. */
function targetsOf({ target, asVersion }: AuditOptions): Checked<Targets> {
  const own = target === undefined ? null : parseTarget(maskCredentials(target));
  if (own?.ok === false) return own;
  const broker = own?.value.broker ?? defaultBroker;
  const wanted = asVersion === undefined ? null : maskCredentials(asVersion);
  const next = wanted === null ? null : parseTarget(wanted.includes("@") ? wanted : `${broker}@${wanted}`);
  if (next?.ok === false) return next;
  return { ok: true, value: { target: own?.value ?? null, upgradeTo: next?.value ?? null }, warnings: [] };
}

async function show(reports: readonly AuditReport[], asked: Asked): Promise<number> {
  const diagnostics = reports.flatMap(({ reading, parts }) => [
    ...reading,
    ...parts.flatMap((part) => part.diagnostics),
  ]);
  const text = await rendered(diagnostics, reports, asked);
  const printed = await print(text, asked.options.output);
  if (printed !== exitCodes.fine) return printed;
  return hasErrors(diagnostics) ? exitCodes.refused : exitCodes.fine;
}

async function rendered(
  diagnostics: readonly Diagnostic[],
  reports: readonly AuditReport[],
  asked: Asked,
): Promise<string> {
  const { options } = asked;
  const format = formatOf(options);
  switch (format) {
    case "text": {
      const { renderAudit } = await import("../report/audit-text.ts");
      const colour = options.output === undefined && (process.stdout.hasColors?.() ?? false);
      return reports.map((report) => renderAudit(report, { colour })).join("\n");
    }
    case "json": {
      const { summarise } = await import("../report/audit-text.ts");
      const audits = reports.map((report) => {
        const { target, upgradeTo, evidence } = report;
        return { target, upgradeTo, evidence, ...summarise(report) };
      });
      return printableJson({ ok: !hasErrors(diagnostics), audits, diagnostics });
    }
    case "sarif":
    case "github":
      return renderedForTools(diagnostics, format, asked);
    default:
      return format satisfies never;
  }
}

async function renderedForTools(
  diagnostics: readonly Diagnostic[],
  format: "sarif" | "github",
  asked: Asked,
): Promise<string> {
  const file = fileOf(asked);
  // Code scanning knows files by their paths from the root of the repository, where workflows run. A running broker is no file.
  const place = file === undefined ? {} : { file: relative("", resolve(file)) };
  const shown = diagnostics.map(visibleDiagnostic);
  if (format === "sarif") {
    const { renderSarif } = await import("../diagnostics/sarif.ts");
    return renderSarif(shown, { ...place, version: ownVersion() });
  }
  const { renderGithub } = await import("../diagnostics/github.ts");
  return renderGithub(shown, place);
}

/** There is nothing to judge. A log for tools holds the reason, so that it is there and valid whatever happened. */
async function refuse(diagnostics: readonly Diagnostic[], asked: Asked): Promise<number> {
  const format = formatOf(asked.options);
  if (format === "json") await print(printableJson({ ok: false, diagnostics }));
  else if (format === "text") {
    const { renderDiagnostics } = await import("../diagnostics/render.ts");
    const colour = process.stderr.hasColors?.() ?? false;
    const file = fileOf(asked);
    const place = file === undefined ? {} : { file };
    process.stderr.write(`${renderDiagnostics(diagnostics.map(visibleDiagnostic), { colour, ...place })}\n`);
  } else await print(await renderedForTools(diagnostics, format, asked));
  return exitCodes.usage;
}

/** The file as it is shown: whoever mistakes an option may have written a URL. */
function fileOf({ source }: Asked): string | undefined {
  return source === null || source.kind === "live" ? undefined : maskCredentials(source.file);
}

function formatOf({ json, format }: AuditOptions): AuditOptions["format"] {
  return json === true ? "json" : format;
}

async function usage(message: string, { options }: Asked): Promise<number> {
  if (formatOf(options) === "json") await print({ ok: false, usage: message });
  else process.stderr.write(`error: ${message}\n`);
  return exitCodes.usage;
}
