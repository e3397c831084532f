import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { exitCodes } from "./exit-codes.ts";
import { supervise } from "./supervise.ts";

const inputs = /\.(?:[cm]?[jt]s|json|ya?ml)$/i;
/** An editor writes a file in several steps. */
const settleMs = 100;

/**
 * Runs a command again after each change beside its files, until the user ends it. Each run has a thread of its own,
 * because a module stays as it was when it was first imported.
 */
export async function runAndWatch(words: readonly string[], cacheFolder: string | null): Promise<never> {
  const at = words.findIndex((word) => word === "-o" || word === "--output");
  const own = at === -1 ? "" : basename(words[at + 1] ?? "");
  const read = words.filter((word, index) => inputs.test(word) && index !== at + 1);
  const changes = new EventTarget();
  for (const folder of new Set(read.map((file) => dirname(resolve(file.slice(file.indexOf("=") + 1)))))) {
    if (!existsSync(folder)) continue;
    watch(folder, (_, file) => {
      if (file === null || (inputs.test(file) && file !== own)) changes.dispatchEvent(new Event("change"));
    });
  }
  for (let run = 1; ; run++) {
    const changed = once(changes, "change");
    const exitCode = await supervise(words, cacheFolder);
    if (run === 1 && exitCode === exitCodes.usage) process.exit(exitCode);
    process.stderr.write("redeliver: waiting for a change; Ctrl-C ends it\n");
    await changed;
    await wait(settleMs);
  }
}
