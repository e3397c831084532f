import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";

import { parse } from "yaml";

import { type ShownQueue, judgeQueue } from "../../src/brokers/rabbitmq/operate/judge-queue.ts";
import { operating } from "../../src/brokers/rabbitmq/operate/index.ts";
import { editOne } from "../../src/dead-letters/edit.ts";
import { exportOf, importModule } from "../../src/cli/load-declaration.ts";
import type { Diagnostic, RefusedError } from "../../src/diagnostics/diagnostic.ts";
import { factsOf } from "../../src/operate/facts.ts";
import { checkExport } from "../../src/operate/import.ts";
import { confirmProblem, consumedProblem } from "../../src/operate/plan.ts";
import { type JournalFile, journalProblems } from "./journal-problems.ts";

interface DeadQueue extends JournalFile {
  readonly version: string;
  readonly queue?: ShownQueue & { readonly name: string };
  readonly planned: number;
  readonly confirm?: number;
  readonly consumers?: number;
  readonly export?: string;
  readonly edit?: string;
  readonly body?: object;
}

/** Everything that an example of operating a dead queue reports. */
export async function reportedByOperating(text: string, folder: string): Promise<readonly Diagnostic[]> {
  const {
    version,
    queue,
    planned,
    confirm,
    consumers,
    export: exported,
    edit,
    body,
    ...file
  } = parse(text) as DeadQueue;
  if (file.journal !== undefined) return journalProblems(folder, file);
  if (exported !== undefined) {
    const rules = { broker: "rabbitmq", queue: "shop.billing.dead", mayBeCutOff: false, ...operating };
    return (await checkExport("backup.ndjson", Readable.from(exported.trimEnd().split("\n")), rules)).problems;
  }
  if (edit !== undefined) return reportedByEdit(edit, body, folder);
  const problem =
    queue === undefined
      ? (consumedProblem("q", consumers ?? 0) ?? confirmProblem("q", planned, confirm ?? planned))
      : judgeQueue(queue.name, version, queue);
  return problem === null ? [] : [problem];
}

async function reportedByEdit(text: string, body: object | undefined, folder: string): Promise<readonly Diagnostic[]> {
  const file = join(mkdtempSync(join(folder, "edit-")), "edit.mjs");
  writeFileSync(file, `export default ${text};`);
  const loaded = await importModule(file);
  if (!loaded.ok) return loaded.diagnostics;
  const editor = { edit: exportOf(loaded.value) as () => unknown, schema: null };
  const place = { position: 1, exchange: "", routingKey: "", redelivered: false };
  const letter = { ...place, headers: {}, properties: {}, body: Buffer.from(JSON.stringify(body)) };
  try {
    editOne({ editor }, letter, factsOf(letter, {}));
    return [];
  } catch (cause) {
    return (cause as RefusedError).diagnostics;
  }
}
