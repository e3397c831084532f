import { resolve } from "node:path";

import { vi } from "vitest";

import { type ProgramOptions, type ProgramRun, runProgram } from "./pulumi.ts";

const root = resolve(import.meta.dirname, "../..");

/**
 * Runs a Pulumi program of the repository under mocks.
 *
 * @param file its path from the root
 * @throws the error of the program
 */
export async function runExample(file: string, options: ProgramOptions = {}): Promise<ProgramRun> {
  // A module runs once; the program has to run again.
  vi.resetModules();
  const run = await runProgram(async () => {
    await import(resolve(root, file));
    return {};
  }, options);
  if (run.error !== undefined) throw run.error;
  return run;
}
