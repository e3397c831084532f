import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { vi } from "vitest";

import { inProject } from "../../src/cli/in-project.ts";
import { run } from "../../src/cli/run.ts";

/** The output of a command, and its exit. */
export interface Said {
  readonly code: number;
  readonly out: string;
  readonly error: string;
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

/** Runs the command line in a process of its own, in the current folder. This process can answer it in the meantime. */
export async function runInProcess(words: readonly string[], environment: Record<string, string> = {}): Promise<Said> {
  const main = resolve(import.meta.dirname, "../../src/cli/main.ts");
  const child = spawn(process.execPath, [main, ...words], { env: { ...process.env, ...environment } });
  const text = { out: "", error: "" };
  child.stdout.on("data", (data: Buffer) => (text.out += data.toString()));
  child.stderr.on("data", (data: Buffer) => (text.error += data.toString()));
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code: code ?? -1, ...text };
}
