import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parse } from "yaml";

import { runExample } from "./example-program.ts";
import type { ProgramRun } from "./pulumi.ts";

const root = resolve(import.meta.dirname, "../..");

interface StackFile {
  readonly config: Readonly<Record<string, unknown>> & { readonly "redeliver:target": { readonly broker: string } };
}

/**
 * Runs the example program under mocks with the configuration of a stack.
 *
 * @param file the stack's file, its path from the root
 */
export async function runExampleStack(file: string): Promise<ProgramRun> {
  const { config } = parse(readFileSync(resolve(root, file), "utf8")) as StackFile;
  // The password is set once, encrypted, and in no file.
  const secrets = config["redeliver:target"].broker === "rabbitmq" ? { "redeliver:password": "x" } : {};
  return runExample("stacks/index.ts", {
    stack: basename(file).split(".")[1] ?? "",
    config: { ...config, ...secrets },
    secretKeys: Object.keys(secrets),
  });
}
