// Writes the files that come from the source: `npm run generate`. With --check it writes nothing and fails if one is
// stale.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { declarationJsonSchema } from "../src/declare/schema.ts";
import { diagnosticCodes } from "../src/diagnostics/catalogue.ts";
import { pageFileOf as diagnosticFileOf, renderIndex, renderPage } from "./diagnostics-page.ts";
import { renderPolicyIndex, renderPolicyPage } from "./policy-page.ts";
import type { Rule } from "../src/policy/rules.ts";
import { rules } from "../src/policy/rules.ts";
import { renderBreaker } from "./breaker-page.ts";
import { renderChanges } from "./changes-table.ts";
import { renderCosts } from "./costs-page.ts";
import { renderDeclaration } from "./declaration-page.ts";
import { renderPermissions } from "./permissions-page.ts";
import { pictures } from "./pictures.ts";
import { renderServicebusClaims } from "./servicebus-claims.ts";
import { renderSqsClaims } from "./sqs-claims.ts";

const root = join(import.meta.dirname, "..");

/** A file that people do not edit by hand. */
export interface GeneratedFile {
  /** Its path from the project's folder. */
  readonly file: string;
  readonly text: () => string | Promise<string>;
}

/** All generated files. */
export const generatedFiles: readonly GeneratedFile[] = [
  { file: "docs/diagnostics.md", text: renderIndex },
  ...diagnosticCodes.map((code) => ({ file: diagnosticFileOf(code), text: () => renderPage(code) })),
  { file: "schema.json", text: schemaText },
  { file: "docs/declaration.md", text: renderDeclaration },
  { file: "docs/sqs-claims.md", text: renderSqsClaims },
  { file: "docs/servicebus-claims.md", text: renderServicebusClaims },
  { file: "docs/permissions.md", text: renderPermissions },
  { file: "docs/breaker.md", text: renderBreaker },
  { file: "docs/changes.md", text: renderChanges },
  { file: "docs/costs.md", text: renderCosts },
  ...pictures,
  { file: "docs/policies/README.md", text: () => renderPolicyIndex(rules) },
  ...rules.map((rule) => ({ file: `docs/policies/${rule.name}.md`, text: () => policyPageText(rule) })),
];

async function policyPageText(rule: Rule): Promise<string> {
  const read = (kind: string): Promise<string> =>
    readFile(join(root, "examples/policies", rule.name, `${kind}.ts`), "utf8");
  const programs = { fails: await read("fails"), passes: await read("passes") };
  return renderPolicyPage(rule, rule.kind === "change" ? { ...programs, before: await read("before") } : programs);
}

/**
 * The schema has a name and no address: tools read it from the package as `redeliver/schema.json`, and from no server.
 */
function schemaText(): string {
  const { $schema, ...schema } = declarationJsonSchema();
  return `${JSON.stringify({ $schema, $id: "urn:redeliver:system", ...schema }, null, 2)}\n`;
}

/** The generated files whose text differs from a new generation. */
export async function staleFiles(): Promise<{ readonly file: string; readonly text: string }[]> {
  const all = await Promise.all(
    generatedFiles.map(async ({ file, text }) => ({
      file,
      text: await text(),
      // A missing file is stale. Writing reports any other problem with it.
      present: await readFile(join(root, file), "utf8").catch(() => undefined),
    })),
  );
  return all.filter(({ text, present }) => text !== present).map(({ file, text }) => ({ file, text }));
}

if (import.meta.main) {
  const stale = await staleFiles();
  const isCheck = process.argv.slice(2).includes("--check");
  for (const { file, text } of stale) {
    if (isCheck) {
      console.error(`${file} is stale: npm run generate`);
      continue;
    }
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
    console.log(`${file} written`);
  }
  if (isCheck && stale.length > 0) process.exitCode = 1;
}
