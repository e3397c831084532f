import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
/** The same cases each time. A nightly run sets a new seed. */
const seed = Number(process.env["BAD_INPUTS_SEED"] ?? 1);
const cases = Number(process.env["BAD_INPUTS_CASES"] ?? 1_400);
/** Other programs may use the machine, too. Cases that never end take minutes. */
const mostPerCaseMs = 60_000;
const heapMegabytes = 1_500;

interface Ended {
  readonly index: number;
  readonly name?: string;
  readonly complaint?: string | null;
}

/** Runs cases in their own process, with limits from the operating system, until one of them ends the process. */
async function runFrom(from: number, to: number, folder: string): Promise<{ failures: string[]; next: number }> {
  const main = join(root, "test/support/bad-inputs/cases-child.ts");
  const words = [`--max-old-space-size=${heapMegabytes}`, main, folder, String(seed), String(from), String(to)];
  const child = spawn(process.execPath, words, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const failures: string[] = [];
  const said: string[] = [];
  let at = from;
  const kill = (): boolean => child.kill("SIGKILL");
  let timer = setTimeout(kill, mostPerCaseMs);
  child.stderr.setEncoding("utf8").on("data", (text: string) => void said.push(text.slice(0, 2_000)));
  const closed = new Promise<string>((done) => child.on("close", (code, signal) => done(String(signal ?? code))));
  for await (const line of createInterface({ input: child.stdout })) {
    clearTimeout(timer);
    timer = setTimeout(kill, mostPerCaseMs);
    const { index, name, complaint } = JSON.parse(line) as Ended;
    at = name === undefined ? index : index + 1;
    if (complaint !== undefined && complaint !== null) failures.push(`case ${index}, ${name}: ${complaint}`);
  }
  clearTimeout(timer);
  const end = await closed;
  if (at < to) failures.push(`case ${at} ends the process (${end}): ${said.join("").slice(0, 2_000)}`);
  return { failures, next: at < to ? at + 1 : to };
}

test(`no input causes a stack trace, an endless run or a lack of memory (BAD_INPUTS_SEED=${seed} BAD_INPUTS_CASES=${cases})`, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "redeliver-bad-inputs-"));
  context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const failures: string[] = [];
  for (let next = 0; next < cases && failures.length < 20;) {
    const ran = await runFrom(next, cases, folder);
    failures.push(...ran.failures);
    next = ran.next;
  }
  expect(failures).toEqual([]);
}, 600_000);
