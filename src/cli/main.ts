#!/usr/bin/env node
import { lstatSync, mkdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

// A second start is twice as fast; where there is no folder for the cache nothing is lost.
const folder = ownFolder();
if (folder !== null) enableCompileCache(folder);
const { run } = await import("./run.ts");
process.exitCode = await run(process.argv.slice(2));

/**
 * A folder that nobody else can write to: what is in the cache is run. Without a name of its own Node takes one in the shared temporary
 * folder, which another user of the machine may have made first.
 *
 * @returns null where there is no such folder
 */
function ownFolder(): string | null {
  try {
    const folder = join(homedir(), ".cache", "redeliver");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    const isOwn = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
    return isOwn ? folder : null;
  } catch {
    return null;
  }
}
