// Writes the files that are made from the source: `npm run generate`. With --check it writes nothing and fails where one is stale.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { declarationJsonSchema } from "../src/declare/schema.ts";
import { renderAllPages } from "../src/diagnostics/page.ts";
import { renderPolicyIndex, renderPolicyPage } from "../src/policy/page.ts";
import type { Rule } from "../src/policy/rule.ts";
import { pageFileOf } from "../src/policy/rule.ts";
import { rules } from "../src/policy/rules.ts";
import { renderServicebusClaims } from "./servicebus-claims.ts";
import { renderSqsClaims } from "./sqs-claims.ts";

const root = join(import.meta.dirname, "..");

/** A file that nobody edits by hand. */
export interface GeneratedFile {
  /** Its path from the project's folder. */
  readonly file: string;
  readonly text: () => string | Promise<string>;
}

/** Every generated file there is. */
export const generatedFiles: readonly GeneratedFile[] = [
  { file: "docs/diagnostics.md", text: renderAllPages },
  { file: "schema.json", text: schemaText },
  { file: "docs/sqs-claims.md", text: renderSqsClaims },
  { file: "docs/servicebus-claims.md", text: renderServicebusClaims },
  { file: "docs/policies/README.md", text: () => renderPolicyIndex(rules) },
  ...rules.map((rule) => ({ file: pageFileOf(rule), text: () => policyPageText(rule) })),
];

async function policyPageText(rule: Rule): Promise<string> {
  const read = (kind: string): Promise<string> =>
    readFile(join(root, "examples/policies", rule.name, `${kind}.ts`), "utf8");
  const programs = { fails: await read("fails"), passes: await read("passes") };
  return renderPolicyPage(rule, rule.kind === "change" ? { ...programs, before: await read("before") } : programs);
}

/** The schema has a name and no address: it is read from the package, `redeliver/schema.json`, and from no server. */
function schemaText(): string {
  const { $schema, ...schema } = declarationJsonSchema();
  return `${JSON.stringify({ $schema, $id: "urn:redeliver:system", ...schema }, null, 2)}\n`;
}

/** The generated files that are not what they would be if they were generated now. */
export async function staleFiles(): Promise<{ readonly file: string; readonly text: string }[]> {
  const all = await Promise.all(
    generatedFiles.map(async ({ file, text }) => ({
      file,
      text: await text(),
      // A file that is not there is stale; the write shows any other reason why it cannot be read.
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
