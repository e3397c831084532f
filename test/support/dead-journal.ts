import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";

import type { JournalEvent, JournalledRedrive } from "../../src/operate/journal.ts";
import { until } from "./deployed-system.ts";
import { runCommand, type Said } from "./run-command.ts";

const main = resolve(import.meta.dirname, "../../src/cli/main.ts");

/** Gives the tests of a file a journal of their own, for this process and its children. */
export function ownJournal(): void {
  const folder = mkdtempSync(join(tmpdir(), "redeliver-journal-"));
  beforeAll(() => {
    process.env["REDELIVER_JOURNAL"] = join(folder, "journal.sqlite");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
}

/** A command in a process of its own. */
export interface Child {
  readonly ended: Promise<Said>;
  readonly isOver: () => boolean;
  readonly kill: () => Promise<unknown>;
  /** The id of its redrive, as soon as it says it. Null if it ended before. */
  readonly id: () => Promise<string | null>;
}

/** @param typed a shell that runs in place of the command line, in a folder. It ends with its commands. */
export function start(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  typed?: { readonly shell: string; readonly cwd: string },
): Child {
  const options = { cwd: typed?.cwd, env: { ...process.env, ...env }, detached: typed !== undefined };
  const child = spawn(typed?.shell ?? process.execPath, typed ? words : [main, ...words], options);
  const kill = (): void => {
    if (typed !== undefined && child.pid !== undefined && !isOver()) process.kill(-child.pid, "SIGKILL");
    child.kill("SIGKILL");
  };
  const said = { out: "", error: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.error += text));
  const closed = once(child, "close");
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  onTestFinished(kill);
  return {
    isOver,
    ended: closed.then(() => ({ code: child.exitCode ?? -1, ...said })),
    kill: async () => {
      kill();
      return closed;
    },
    id: async () => {
      const told = (): string | undefined => /the redrive ([\da-f]{8}) /.exec(said.error)?.[1];
      await until(60_000, () => told() !== undefined || isOver());
      return told() ?? null;
    },
  };
}

/** An answer of `dead status ID --json`. */
export async function statusOf(id: string): Promise<JournalledRedrive & { readonly events: readonly JournalEvent[] }> {
  const said = await runCommand(["dead", "status", id, "--json"]);
  if (said.code !== 0) throw new Error(said.out);
  return JSON.parse(said.out) as JournalledRedrive & { readonly events: readonly JournalEvent[] };
}

/** Numbers from 0 to 1, the same for the same seed. Source: Numerical Recipes, "Quick and Dirty Generators". */
export function seeded(seed: number): () => number {
  let state = (seed * 2_654_435_761) % 2 ** 32;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
