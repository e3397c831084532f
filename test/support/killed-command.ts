import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";

import { sleep } from "./deployed-system.ts";

/** Starts a command in a process of its own, and kills it at a random instant after its work has begun. */
export async function killAfter(words: readonly string[], hasBegun: () => boolean | Promise<boolean>, mostMs = 300) {
  const main = join(resolve(import.meta.dirname, "../.."), "src/cli/main.ts");
  const child = spawn(process.execPath, [main, ...words], { stdio: "ignore" });
  const ended = once(child, "exit");
  while (child.exitCode === null && !(await hasBegun())) await sleep(5);
  await sleep(Math.random() * mostMs);
  child.kill("SIGKILL");
  await ended;
}
