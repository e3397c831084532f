import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";

import { type Diagnostic, diagnosed } from "../diagnostics/diagnostic.ts";
import { visible } from "../diagnostics/visible.ts";
import type { LockPlace } from "./lock-file.ts";

/** Refuses a lock file that git knows and that is gone: without it no change would be compared. Empty if there is none to miss. */
export function refuseMissing({ file, environment }: LockPlace): readonly Diagnostic[] {
  const commit = existsSync(file) ? null : lastCommitOf(file);
  if (commit === null) return [];
  return diagnosed("RD323", {
    path: "",
    message: `the lock is gone, and git has it: ${commit} is the last commit that changed it`,
    help: `restore it from git, or make it again with the declaration that is deployed: redeliver lock --env ${environment}, and --live to compare that with the running broker`,
  });
}

/** One line about an environment that no lock has. */
export function nothingCompared({ file, environment }: LockPlace): string {
  const lacks = existsSync(file) ? `has no environment ${environment}` : "does not exist";
  return `not compared with what is deployed: ${visible(file)} ${lacks}. redeliver lock --env ${environment} writes it`;
}

/** Null without git, outside a repository, or if no commit in its history has the file. */
function lastCommitOf(file: string): string | null {
  const words = ["log", "-1", "--format=%h", "--", basename(file)];
  const { status, stdout } = spawnSync("git", words, { cwd: dirname(file), encoding: "utf8", timeout: 10_000 });
  const commit = status === 0 ? stdout.trim() : "";
  return commit === "" ? null : commit;
}
