import { relative, resolve } from "node:path";

import type { Target } from "../brokers/index.ts";
import { brokerOf, defaultBroker, parseTarget } from "../brokers/index.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic, hasErrors } from "../diagnostics/diagnostic.ts";
import type { AuditedPart, AuditReport } from "../report/audit-text.ts";
import { printableJson, visibleDiagnostic } from "../report/audit-text.ts";
import { ownVersion } from "./check.ts";
import { print } from "./commands.ts";
import { maskCredentials } from "./mask-credentials.ts";
import { readText } from "./read-text.ts";
import { exitCodes } from "./run.ts";

export interface AuditOptions {
  readonly definitions?: string;
  readonly stack?: string;
  readonly url?: string;
  readonly target?: string;
  readonly asVersion?: string;
  readonly format: "text" | "json" | "sarif" | "github";
  readonly json?: boolean;
  readonly output?: string;
}

/**
 * Judges a topology that Redeliver did not make.
 *
 * @returns the exit code: fine where no error was found, refused where one was, usage where there is nothing to judge
 */
export async function auditCommand(options: AuditOptions): Promise<number> {
  const sources = [options.definitions, options.stack, options.url].filter((each) => each !== undefined);
  if (sources.length !== 1) {
    return usage(
      `an audit reads one of --definitions FILE, --url URL and --stack FILE; given are ${sources.length}`,
      options,
    );
  }
  const targets = targetsOf(options);
  if (!targets.ok) return refuse(targets.diagnostics, options);
  const { title, auditor, evidenceOf, formatTarget } = brokerOf(targets.value.target ?? { broker: defaultBroker });
  if (auditor === undefined) return usage(`${title} cannot be audited yet`, options);
  const deployment = await read(options, auditor);
  if (!deployment.ok) return refuse(deployment.diagnostics, options);
  const own =
    targets.value.target === null ? auditor.targetOf(deployment.value) : { ...targets, value: targets.value.target };
  if (!own.ok) return refuse(own.diagnostics, options);
  const target = own.value;
  if (target === null) {
    return refuse([withoutVersion()], options);
  }
  const { upgradeTo } = targets.value;
  const parts = auditor.partsOf(deployment.value).map((part): AuditedPart => ({
    name: part.name,
    queues: part.queues,
    diagnostics: auditor.audit(part.deployment, target, upgradeTo),
  }));
  const reading = [...own.warnings, ...deployment.warnings];
  return show(
    {
      target: formatTarget(target),
      upgradeTo: upgradeTo === null ? null : formatTarget(upgradeTo),
      evidence: evidenceOf(upgradeTo ?? target),
      reading,
      parts,
    },
    options,
  );
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
function targetsOf({ target, asVersion }: AuditOptions): Checked<{
  readonly target: Target | null;
  readonly upgradeTo: Target | null;
}> {
  const own = target === undefined ? null : parseTarget(maskCredentials(target));
  if (own?.ok === false) return own;
  const broker = own?.value.broker ?? defaultBroker;
  const wanted = asVersion === undefined ? null : maskCredentials(asVersion);
  const next = wanted === null ? null : parseTarget(wanted.includes("@") ? wanted : `${broker}@${wanted}`);
  if (next?.ok === false) return next;
  return { ok: true, value: { target: own?.value ?? null, upgradeTo: next?.value ?? null }, warnings: [] };
}

type AnyAuditor = NonNullable<ReturnType<typeof brokerOf>["auditor"]>;

async function read({ definitions, stack, url }: AuditOptions, auditor: AnyAuditor): Promise<Checked<unknown>> {
  if (url !== undefined) {
    const { readLiveBroker } = await import("./read-live-broker.ts");
    return readLiveBroker(url, auditor.live, process.env);
  }
  const text = await readText(definitions ?? stack ?? "");
  if (!text.ok) return text;
  return auditor.importFormats[definitions === undefined ? "stack" : "definitions"](text.value);
}

async function show(report: AuditReport, options: AuditOptions): Promise<number> {
  const diagnostics = [...report.reading, ...report.parts.flatMap((part) => part.diagnostics)];
  const text = await rendered(diagnostics, report, options);
  const printed = await print(text, options.output);
  if (printed !== exitCodes.fine) return printed;
  return hasErrors(diagnostics) ? exitCodes.refused : exitCodes.fine;
}

async function rendered(
  diagnostics: readonly Diagnostic[],
  report: AuditReport,
  options: AuditOptions,
): Promise<string> {
  const format = formatOf(options);
  switch (format) {
    case "text": {
      const { renderAudit } = await import("../report/audit-text.ts");
      const colour = options.output === undefined && (process.stdout.hasColors?.() ?? false);
      return renderAudit(report, { colour });
    }
    case "json": {
      const { summarise } = await import("../report/audit-text.ts");
      const { target, upgradeTo, evidence } = report;
      return printableJson({
        ok: !hasErrors(diagnostics),
        target,
        upgradeTo,
        evidence,
        ...summarise(report),
        diagnostics,
      });
    }
    case "sarif":
    case "github":
      return renderedForTools(diagnostics, format, options);
    default:
      return format satisfies never;
  }
}

async function renderedForTools(
  diagnostics: readonly Diagnostic[],
  format: "sarif" | "github",
  options: AuditOptions,
): Promise<string> {
  const file = fileOf(options);
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
async function refuse(diagnostics: readonly Diagnostic[], options: AuditOptions): Promise<number> {
  const format = formatOf(options);
  if (format === "json") await print(printableJson({ ok: false, diagnostics }));
  else if (format === "text") {
    const { renderDiagnostics } = await import("../diagnostics/render.ts");
    const colour = process.stderr.hasColors?.() ?? false;
    const file = fileOf(options);
    const place = file === undefined ? {} : { file };
    process.stderr.write(`${renderDiagnostics(diagnostics.map(visibleDiagnostic), { colour, ...place })}\n`);
  } else await print(await renderedForTools(diagnostics, format, options));
  return exitCodes.usage;
}

/** The file as it is shown: whoever mistakes an option may have written a URL. */
function fileOf({ definitions, stack }: AuditOptions): string | undefined {
  const file = definitions ?? stack;
  return file === undefined ? undefined : maskCredentials(file);
}

function formatOf({ json, format }: AuditOptions): AuditOptions["format"] {
  return json === true ? "json" : format;
}

async function usage(message: string, options: AuditOptions): Promise<number> {
  if (formatOf(options) === "json") await print({ ok: false, usage: message });
  else process.stderr.write(`error: ${message}\n`);
  return exitCodes.usage;
}
