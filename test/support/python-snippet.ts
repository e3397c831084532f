import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { motoPython } from "../../scripts/sqs-emulators.mjs";
import { codeOf } from "./code-of.ts";
import type { SnippetRun } from "./snippet-course.ts";

export interface RunningSnippet {
  readonly runs: readonly SnippetRun[];
  /** Everything that the process said that is no run; what is shown when a test fails. */
  readonly log: () => string;
  /** Asks it to end, as a platform does. @returns its exit code, when it has */
  readonly terminate: () => Promise<number | null>;
  readonly stop: () => Promise<void>;
}

/**
 * What stands in the place of the user's code: does with each message what the message itself says, run after run, and tells of it.
 * `permanent` raises from the declared error, so that the chain has to be looked through.
 */
const handler = `
import json, sys, time
import consumer as snippet

class ValidationError(Exception):
    pass

runs = {}

def handle(body, attempt):
    message = json.loads(body)
    number = runs[message["id"]] = runs.get(message["id"], 0) + 1
    print(json.dumps({"id": message["id"], "attempt": attempt, "beganAt": time.time()}), flush=True)
    plan = message["plan"]
    ending = plan[number - 1] if number <= len(plan) else "success"
    if ending == "permanent":
        raise RuntimeError("wrapped") from ValidationError("bad")
    if ending == "slow":
        time.sleep(1.5)
    if ending == "return":
        raise snippet.HandBack()
    if isinstance(ending, (int, float)):
        raise snippet.RetryAfter(ending)
    if ending == "transient":
        # Its causes come to no end.
        error = OSError("down")
        error.__cause__ = RuntimeError("wrapped")
        error.__cause__.__cause__ = error
        raise error

snippet.handle = handle
`;

/**
 * Runs a snippet of a page in a process of its own, with the Python that the emulators were installed with.
 *
 * @param main what starts it, in Python
 */
export function runSnippet(page: string, main: string, environment: Readonly<Record<string, string>>): RunningSnippet {
  if (!existsSync(motoPython)) throw new Error("Python is not installed: `npm run bootstrap -- --sqs` installs it");
  const folder = mkdtempSync(join(tmpdir(), "redeliver-snippet-"));
  writeFileSync(join(folder, "consumer.py"), codeOf(page, "python"));
  // The page of a function of Lambda has none.
  if (page.includes("\nimport consumer\n"))
    writeFileSync(join(folder, "tasks.py"), codeOf(page, "python", "Python, Celery"));
  writeFileSync(join(folder, "run.py"), `${handler}\n${main}\n`);
  const child = spawn(motoPython, [join(folder, "run.py")], {
    env: { ...process.env, ...environment, PYTHONUNBUFFERED: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const runs: SnippetRun[] = [];
  let rest = "";
  let log = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) runs.push(JSON.parse(line) as SnippetRun);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  return {
    runs,
    log: () => log,
    terminate: async () => {
      await end(child, "SIGTERM");
      return child.exitCode;
    },
    stop: async () => {
      await end(child, "SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function end(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // After what it has said.
  const closed = once(child, "close");
  child.kill(signal);
  await closed;
}
