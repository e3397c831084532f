import type { CatalogueEntry, DiagnosticCode } from "./catalogue.ts";
import { catalogue } from "./catalogue.ts";
import { renderPageText } from "./page.ts";
import type { Locate } from "./region.ts";
import type { Place, Reported } from "./reported.ts";
import { renderMessageWithNames } from "./render.ts";

/** What a log is about. */
export interface SarifOptions {
  /** The file as the repository knows it: its path from the root. Left out where there is none, as for a live broker. */
  readonly file?: string | undefined;
  /** The version of Redeliver. */
  readonly version?: string | undefined;
  readonly locate?: Locate | undefined;
  /** What a code means; that of a diagnostic where it is left out. */
  readonly ruleOf?: ((code: string) => SarifRule) | undefined;
}

/** What code scanning shows beside each result of a rule. */
export interface SarifRule {
  readonly title: string;
  readonly explanation: string;
  readonly page: string;
  readonly level: "error" | "warning";
  readonly tags?: readonly string[];
}

/**
 * Renders diagnostics as a log in SARIF 2.1.0, the format that code scanning reads.
 *
 * Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html, whose sections the comments name.
 *
 * @returns indented JSON; a log without results where there are no diagnostics, which closes the alerts of the last run
 */
export function renderSarif(diagnostics: readonly Reported[], options: SarifOptions): string {
  const codes = [...new Set(diagnostics.map((each) => each.code))].toSorted();
  const ruleIndexes = new Map(codes.map((code, index) => [code, index]));
  const fingerprints = fingerprintsOf(diagnostics);
  const log = {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "Redeliver",
            ...(options.version === undefined ? {} : { version: options.version, semanticVersion: options.version }),
            rules: codes.map((code) => describeRule(code, (options.ruleOf ?? ruleOfDiagnostic)(code))),
          },
        },
        columnKind: "utf16CodeUnits",
        results: diagnostics.map((each, index) => ({
          ruleId: each.code,
          ruleIndex: ruleIndexes.get(each.code),
          level: each.severity,
          message: { text: escapeText(renderMessageWithNames(each)) },
          // Without a file and a path there is nothing to point at.
          locations:
            options.file === undefined && each.place === undefined && each.path === ""
              ? []
              : [locationOf(each, options)],
          partialFingerprints: { "redeliverCodeAndPath/v1": fingerprints[index] },
        })),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function ruleOfDiagnostic(code: string): SarifRule {
  const { severity, title, explanation }: CatalogueEntry = catalogue[code as DiagnosticCode];
  return { title, explanation, page: renderPageText(code as DiagnosticCode), level: severity };
}

/** The page is shown beside an alert; its braces are no placeholders, since no message is made of it. */
function describeRule(id: string, { title, explanation, page, level, tags }: SarifRule): object {
  return {
    id,
    shortDescription: { text: title },
    fullDescription: { text: explanation },
    help: { text: page, markdown: page },
    defaultConfiguration: { level },
    ...(tags === undefined ? {} : { properties: { tags } }),
  };
}

function locationOf({ path, place }: Reported, { file = place?.file, locate }: SarifOptions): object {
  return {
    ...(file === undefined
      ? {}
      : {
          physicalLocation: {
            artifactLocation: { uri: uriOf(place?.file ?? file) },
            region: regionOf(place?.region ?? locate?.(path)),
          },
        }),
    // §3.33.5 wants a name that is unique within the file, which a path is.
    ...(path === "" ? {} : { logicalLocations: [{ fullyQualifiedName: path }] }),
  };
}

/** Code scanning shows no result without a line, so what has none is shown at the first. */
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
 * What tells that two runs found the same thing: not the line, which moves with every edit above it.
 * The second of the same code at the same path is told by its number, or one of the two would hide the other.
 */
function fingerprintsOf(diagnostics: readonly Reported[]): string[] {
  const seen = new Map<string, number>();
  return diagnostics.map(({ code, path, value, message }) => {
    // What is said of many things has no place of its own; how many they are changes with every one that comes or goes.
    const what = Array.isArray(value) ? `:${message.replaceAll(/\d+/g, "n")}` : "";
    const key = `${code}:${path}${what}`;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count === 1 ? key : `${key}#${count}`;
  });
}

/** A relative reference for a path from the repository's root, and a file URI for an absolute one (§3.4.3). */
function uriOf(file: string): string {
  const path = file
    .toWellFormed()
    .replaceAll("\\", "/")
    .replace(/^(?:\.\/+)+/, "");
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const drive = /^([A-Za-z]):\//.exec(path);
  if (drive !== null) return `file:///${encoded.replace("%3A", ":")}`;
  return path.startsWith("/") ? `file://${encoded}` : encoded;
}

/** Braces are doubled, since one would open a placeholder (§3.11.5), and nothing becomes a link (§3.11.6). */
function escapeText(text: string): string {
  return text.replaceAll(/[{}]/g, "$&$&").replaceAll("](", "\\](");
}
