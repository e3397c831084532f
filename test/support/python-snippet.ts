import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { motoPython } from "../../scripts/sqs-emulators.mjs";
import { filesOf } from "./contract-page.ts";
import type { SnippetRun } from "./snippet-course.ts";

export interface RunningSnippet {
  readonly runs: readonly SnippetRun[];
  /** The whole output of the process apart from its runs, for the message of a failed test. */
  readonly log: () => string;
  /** Asks it to end, like a platform does. @returns its exit code after the end */
  readonly terminate: () => Promise<number | null>;
  readonly stop: () => Promise<void>;
}

/**
 * Replaces the user's code. It treats each message as the message itself says, run after run, and reports it.
 * `permanent` raises an error from the declared error, so that the snippet has to search the chain.
 */
const handler = `
import json, sys, time
import consumer as snippet
import outcomes

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
        raise outcomes.HandBack()
    if isinstance(ending, (int, float)):
        raise outcomes.RetryAfter(ending)
    if ending == "transient":
        # Its causes come to no end.
        error = OSError("down")
        error.__cause__ = RuntimeError("wrapped")
        error.__cause__.__cause__ = error
        raise error

snippet.handle = handle
`;

/**
 * Runs a snippet of a page in a process of its own, with the Python of the emulators' installation.
 *
 * @param main the Python code that starts it
 */
export function runSnippet(page: string, main: string, environment: Readonly<Record<string, string>>): RunningSnippet {
  if (!existsSync(motoPython)) throw new Error("Python is not installed: `npm run bootstrap -- --sqs` installs it");
  const folder = mkdtempSync(join(tmpdir(), "redeliver-snippet-"));
  for (const [file, text] of filesOf(page, ".py")) writeFileSync(join(folder, file), text);
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
  // After all of its output.
  const closed = once(child, "close");
  child.kill(signal);
  await closed;
}
