import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

import type { ConsumedSystem } from "./consuming.ts";

const file = resolve(import.meta.dirname, "consuming-child.ts");

/** A consumer in a process of its own, perhaps with a wrong wall clock. */
export interface ConsumerProcess {
  /** Its output, one entry for each line. */
  readonly lines: readonly string[];
  readonly kill: (signal: "SIGKILL" | "SIGTERM") => void;
  readonly ended: Promise<unknown>;
}

export function startProcess(
  system: ConsumedSystem,
  finished: (end: () => void) => void,
  offsetMs = 0,
): ConsumerProcess {
  const { declared, options } = system;
  const child = spawn(process.execPath, [file, JSON.stringify({ declared, options, offsetMs })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  finished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (text: string) => lines.push(...text.trim().split("\n")));
  return { lines, kill: (signal) => child.kill(signal), ended: once(child, "close") };
}
