#!/usr/bin/env node
import { existsSync, lstatSync, mkdirSync, statSync, writeSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { nodeProblem } from "../node/version.ts";

if (nodeProblem !== null) {
  console.error(`error: ${nodeProblem}`);
  process.exit(2);
}

import { projectFiles } from "./project-files.ts";

// The cache makes a second start twice as fast. Without a folder for it, Redeliver works too.
const folder = ownFolder();
if (folder !== null) enableCompileCache(folder);
for (const stream of [process.stdout, process.stderr]) stream.on("error", endAtOnce);
void begin(process.argv.slice(2));

async function begin(given: readonly string[]): Promise<never> {
  const words = hasProject(given) ? await (await import("./in-project.ts")).inProject(given) : given;
  if (typeof words === "number") {
    await (await import("./output.ts")).flushed();
    process.exit(words);
  }
  const watched = words.filter((word) => word !== "--watch");
  if (watched.length < words.length && ["plan", "check", "report"].includes(words[0] ?? ""))
    return (await import("./watch.ts")).runAndWatch(watched, folder);
  // A module may have left a timer or a socket open, although the work is done.
  process.exit(
    isSmall(words)
      ? await (await import("./run.ts")).run(words)
      : await (await import("./supervise.ts")).supervise(words, folder),
  );
}

/** True if there may be a project file to read. A command without one starts sooner. */
function hasProject(words: readonly string[]): boolean {
  if (words.some((word) => /^--(?:env|project)(?:=|$)/.test(word))) return true;
  return projectFiles.some((name) => existsSync(name));
}

/** The size of a small file. With the longest schedules in it, the proof needs less than a gigabyte. */
const smallBytes = 4_096;

/**
 * True for a command that imports no module and reads small files alone. Nothing in it can end the program, so it needs
 * no thread of its own. A thread takes longer to start than such a command takes to run.
 */
function isSmall([command = "", ...others]: readonly string[]): boolean {
  // It asks the user, and a thread has no standard input.
  if (command === "init") return true;
  if (!["plan", "compile", "check", "contract", "graph", "explain"].includes(command)) return false;
  return others.every((word, index) => {
    if (/\.[cm]?[jt]s$/i.test(word)) return false;
    // An output may have any size. Any other word may name a file to read.
    return ["-o", "--output"].includes(others[index - 1] ?? "") || isSmallFile(word.slice(word.indexOf("=") + 1));
  });
}

function isSmallFile(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined || (found.isFile() && found.size <= smallBytes);
  } catch {
    return false;
  }
}

/** A reader such as head may stop reading, and needs no message. A disk may be full. */
function endAtOnce(this: NodeJS.WriteStream, cause: NodeJS.ErrnoException): never {
  if (this === process.stdout && cause.code !== "EPIPE") {
    try {
      writeSync(2, `error: the standard output cannot be written: ${cause.code}\n`);
    } catch {
      // This text has no reader either.
    }
  }
  process.exit(2);
}

/**
 * A folder that only this user can write to, because Node runs the code in the cache. By default Node takes a folder in
 * the shared temporary folder, and another user of the machine may have created it first.
 *
 * @returns null if there is no such folder
 */
function ownFolder(): string | null {
  try {
    const caches = join(homedir(), ".cache");
    const folder = join(caches, "redeliver");
    // One by one, because making several folders at once never returns below /proc.
    for (const each of [caches, folder]) if (!existsSync(each)) mkdirSync(each, { mode: 0o700 });
    const found = lstatSync(folder);
    const isOwn = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
    return isOwn ? folder : null;
  } catch {
    return null;
  }
}
