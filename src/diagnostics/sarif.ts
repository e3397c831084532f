import type { CatalogueEntry, DiagnosticCode } from "./catalogue.ts";
import { catalogue } from "./catalogue.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { renderPageText } from "./page.ts";
import type { Locate } from "./region.ts";
import { renderMessageWithNames } from "./render.ts";

/** What a log is about. */
export interface SarifOptions {
  /** The file as the repository knows it: its path from the root. Left out where there is none, as for a live broker. */
  readonly file?: string | undefined;
  /** The version of Redeliver. */
  readonly version?: string | undefined;
  readonly locate?: Locate | undefined;
}

/**
 * Renders diagnostics as a log in SARIF 2.1.0, the format that code scanning reads.
 *
 * Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html, whose sections the comments name.
 *
 * @returns indented JSON; a log without results where there are no diagnostics, which closes the alerts of the last run
 */
export function renderSarif(diagnostics: readonly Diagnostic[], options: SarifOptions): string {
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
            rules: codes.map(ruleOf),
          },
        },
        columnKind: "utf16CodeUnits",
        results: diagnostics.map((each, index) => ({
          ruleId: each.code,
          ruleIndex: ruleIndexes.get(each.code),
          level: each.severity,
          message: { text: escapeText(renderMessageWithNames(each)) },
          // Without a file and a path there is nothing to point at.
          locations: options.file === undefined && each.path === "" ? [] : [locationOf(each, options)],
          partialFingerprints: { "redeliverCodeAndPath/v1": fingerprints[index] },
        })),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

/** What a code means. The page is shown beside an alert; its braces are no placeholders, since no message is made of it. */
function ruleOf(code: DiagnosticCode): object {
  const { severity, title, explanation }: CatalogueEntry = catalogue[code];
  const page = renderPageText(code);
  return {
    id: code,
    shortDescription: { text: title },
    fullDescription: { text: explanation },
    help: { text: page, markdown: page },
    defaultConfiguration: { level: severity },
  };
}

function locationOf({ path }: Diagnostic, { file, locate }: SarifOptions): object {
  return {
    ...(file === undefined
      ? {}
      : { physicalLocation: { artifactLocation: { uri: uriOf(file) }, region: regionOf(path, locate) } }),
    // §3.33.5 wants a name that is unique within the file, which a path is.
    ...(path === "" ? {} : { logicalLocations: [{ fullyQualifiedName: path }] }),
  };
}

/** Code scanning shows no result without a line, so what has none is shown at the first. */
function regionOf(path: string, locate: Locate | undefined): object {
  const region = locate?.(path);
  if (region === undefined) return { startLine: 1 };
  return {
    startLine: region.line,
    startColumn: region.column,
    endLine: region.endLine,
    endColumn: region.endColumn,
  };
}

/**
 * What tells that two runs found the same thing: not the line, which moves with every edit above it.
 * The second of the same code at the same path is told by its number, or one of the two would hide the other.
 */
function fingerprintsOf(diagnostics: readonly Diagnostic[]): string[] {
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
