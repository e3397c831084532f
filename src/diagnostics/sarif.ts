import { type CatalogueEntry, type DiagnosticCode, catalogue } from "./catalogue.ts";
import { docsOfCode } from "./docs-site.ts";
import { maskCredentials } from "./mask-credentials.ts";
import type { Locate } from "./region.ts";
import type { Place, Reported } from "./reported.ts";
import { renderMessageWithNames } from "./render.ts";
import { printableJson } from "./visible.ts";

export interface SarifOptions {
  /** The path of the file from the repository's root. Left out if there is no file, as for a live broker. */
  readonly file?: string | undefined;
  readonly version?: string | undefined;
  readonly locate?: Locate | undefined;
  /** The page of a code in Markdown. The default is its explanation. */
  readonly pageOf?: ((code: DiagnosticCode) => string) | undefined;
  /** The rule of a code. The default is that of a diagnostic. */
  readonly ruleOf?: ((code: string) => SarifRule) | undefined;
}

/** The texts that code scanning shows beside each result of a rule. */
export interface SarifRule {
  readonly title: string;
  readonly explanation: string;
  readonly page: string;
  /** The address of the page. */
  readonly docs: string;
  readonly level: "error" | "warning";
  readonly tags?: readonly string[];
}

/**
 * Renders diagnostics as a log in SARIF 2.1.0, the format that code scanning reads.
 *
 * Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. The comments name its sections.
 *
 * @returns indented JSON; without diagnostics a log without results, which closes the alerts of the last run
 */
export function renderSarif(diagnostics: readonly Reported[], options: SarifOptions): string {
  return `${printableJson(sarifLog(diagnostics, options))}\n`;
}

/** The log as data. */
export function sarifLog(diagnostics: readonly Reported[], options: SarifOptions): object {
  const codes = [...new Set(diagnostics.map((each) => each.code))].toSorted();
  const ruleIndexes = new Map(codes.map((code, index) => [code, index]));
  const fingerprints = fingerprintsOf(diagnostics);
  return {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "Redeliver",
            ...(options.version === undefined ? {} : { version: options.version, semanticVersion: options.version }),
            rules: codes.map((code) =>
              describeRule(code, (options.ruleOf ?? ((each) => ruleOfDiagnostic(each, options)))(code)),
            ),
          },
        },
        columnKind: "utf16CodeUnits",
        results: diagnostics.map((each, index) => ({
          ruleId: each.code,
          ruleIndex: ruleIndexes.get(each.code),
          level: each.severity,
          ...(each.waived === undefined ? {} : { suppressions: [{ kind: "external", justification: each.waived }] }),
          message: { text: escapeText(renderMessageWithNames(each)) },
          // Without a file and a path there is no place to show.
          locations:
            options.file === undefined && each.place === undefined && each.path === ""
              ? []
              : [locationOf(each, options)],
          partialFingerprints: { "redeliverCodeAndPath/v1": fingerprints[index] },
        })),
      },
    ],
  };
}

function ruleOfDiagnostic(code: string, { pageOf }: SarifOptions): SarifRule {
  const { severity, title, explanation }: CatalogueEntry = catalogue[code as DiagnosticCode];
  const page = pageOf?.(code as DiagnosticCode) ?? explanation;
  return { title, explanation, page, docs: docsOfCode(code), level: severity };
}

/**
 * Code scanning shows the page beside an alert. Braces in it are no placeholders, because they matter only in messages.
 */
function describeRule(id: string, { title, explanation, page, docs, level, tags }: SarifRule): object {
  return {
    id,
    shortDescription: { text: title },
    fullDescription: { text: explanation },
    help: { text: page, markdown: page },
    helpUri: docs,
    defaultConfiguration: { level },
    ...(tags === undefined ? {} : { properties: { tags } }),
  };
}

function locationOf({ path, place }: Reported, { file = place?.file, locate }: SarifOptions): object {
  return {
    ...(file !== undefined && {
      physicalLocation: {
        artifactLocation: { uri: uriOf(place?.file ?? file) },
        region: regionOf(place?.region ?? locate?.(path)),
      },
    }),
    // §3.33.5 requires a name that is unique within the file. A path is unique.
    ...(path === "" ? {} : { logicalLocations: [{ fullyQualifiedName: path }] }),
  };
}

/** Code scanning shows no result without a line, so a result without a place gets the first. */
function regionOf(region: Place["region"] | undefined): object {
  if (region === undefined) return { startLine: 1 };
  const { line, column, endLine, endColumn } = region;
  return {
    startLine: line,
    startColumn: column,
    ...(endLine === undefined ? {} : { endLine }),
    ...(endColumn === undefined ? {} : { endColumn }),
  };
}

/**
 * Identifies the same problem in two runs. It leaves out the line, which moves with every edit above it. Several of one
 * code at one path get numbers, because otherwise one would hide the others.
 */
function fingerprintsOf(diagnostics: readonly Reported[]): string[] {
  const seen = new Map<string, number>();
  return diagnostics.map(({ code, path, value, message }) => {
    // A diagnostic about many things has no place of its own, so its message identifies it. The numbers in it are left
    // out, because they change with each thing that comes or goes.
    const what = Array.isArray(value) ? `:${message.replaceAll(/\d+/g, "n")}` : "";
    const key = `${code}:${path}${what}`;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count === 1 ? key : `${key}#${count}`;
  });
}

/** A relative reference for a path from the repository's root, and a file URI for an absolute path (§3.4.3). */
function uriOf(file: string): string {
  const path = maskCredentials(file)
    .toWellFormed()
    .replaceAll("\\", "/")
    .replace(/^(?:\.\/+)+/, "");
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const drive = /^([A-Za-z]):\//.exec(path);
  if (drive !== null) return `file:///${encoded.replace("%3A", ":")}`;
  return path.startsWith("/") ? `file://${encoded}` : encoded;
}

/** Doubles braces, because one would open a placeholder (§3.11.5). Escapes links (§3.11.6). */
function escapeText(text: string): string {
  return text.replaceAll(/[{}]/g, "$&$&").replaceAll("](", "\\](");
}
