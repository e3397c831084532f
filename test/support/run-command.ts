import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, vi } from "vitest";

import { inProject } from "../../src/cli/in-project.ts";
import { run } from "../../src/cli/run.ts";

/** The output of a command, and its exit. */
export interface Said {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Makes a folder for the tests of a file. They run in it, and it is removed after them. */
export function inFolderOfItsOwn(name: string): string {
  const earlier = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), `redeliver-${name}-`));
  beforeAll(() => process.chdir(folder));
  afterAll(() => {
    process.chdir(earlier);
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/**
 * Runs the command line in this process, which takes a tenth of the time of a separate one.
 *
 * @param environment variables of the environment; without a value a variable is unset
 */
export async function runCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<Said> {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const said = { out: "", error: "" };
  const listening = (channel: "out" | "error") =>
    ((text: string, done?: (cause?: Error | null) => void): boolean => {
      said[channel] += text;
      done?.(null);
      return true;
    }) as typeof process.stdout.write;
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(listening("out")),
    vi.spyOn(process.stderr, "write").mockImplementation(listening("error")),
  ];
  try {
    // As the executable does, which then runs the command.
    const completed = await inProject(words);
    return { code: typeof completed === "number" ? completed : await run(completed), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}

/** The fields of a command's answer with `--json`, its exit code, and all of its output as text. */
export type Answer<Fields = Record<string, unknown>> = Fields & { readonly code: number; readonly text: string };

export async function answerOf<Fields = Record<string, unknown>>(
  saying: Said | Promise<Said>,
): Promise<Answer<Fields>> {
  const { code, out, error } = await saying;
  return { ...(JSON.parse(out) as Fields), code, text: out + error };
}

/** Runs the command line in a process of its own, in the current folder. This process can answer it in the meantime. */
export async function runSeparately(words: readonly string[], environment: Record<string, string> = {}): Promise<Said> {
  const main = resolve(import.meta.dirname, "../../src/cli/main.ts");
  const child = spawn(process.execPath, [main, ...words], { env: { ...process.env, ...environment } });
  const text = { out: "", error: "" };
  child.stdout.on("data", (data: Buffer) => (text.out += data.toString()));
  child.stderr.on("data", (data: Buffer) => (text.error += data.toString()));
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code: code ?? -1, ...text };
}
