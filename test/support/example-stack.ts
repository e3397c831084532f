import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parse } from "yaml";

import { runExample } from "./example-program.ts";
import type { ProgramRun } from "./pulumi.ts";

const root = resolve(import.meta.dirname, "../..");

interface StackFile {
  readonly config: Readonly<Record<string, unknown>> & { readonly "redeliver:target": { readonly broker: string } };
}

/** @param file the stack's file, its path from the root */
export function readExampleStack(file: string) {
  const { config } = parse(readFileSync(resolve(root, file), "utf8")) as StackFile;
  const { broker } = config["redeliver:target"];
  // A person sets the password once, encrypted, and it is in no file.
  return { broker, config: { ...config, ...(broker === "rabbitmq" ? { "redeliver:password": "x" } : {}) } };
}

/** Runs the example program under mocks with the configuration of a stack. */
export async function runExampleStack(file: string): Promise<ProgramRun> {
  const stack = basename(file).split(".")[1] ?? "";
  return runExample("stacks/index.ts", { stack, ...readExampleStack(file), secretKeys: ["redeliver:password"] });
}
