import { chmodSync, chownSync, mkdirSync, readdirSync, rmdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { runSeparately } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Node runs the code in its compile cache. So nobody else may be able to write there.

const folder = temporaryFolder("cache");

/** Starts the command line. @returns the cache folder, after the check that no shared folder holds a cache */
async function start(name: string, prepare: (caches: string) => void = () => {}): Promise<string> {
  const [home, shared] = [join(folder, name), join(folder, `${name}-shared`)];
  for (const each of [home, shared]) mkdirSync(each);
  const caches = join(home, ".cache");
  prepare(caches);
  const said = await runSeparately(["--version"], { HOME: home, TMPDIR: shared });
  expect([said.code, said.error]).toEqual([0, ""]);
  expect(readdirSync(shared)).toEqual([]);
  return join(caches, "redeliver");
}

test("the cache lies in a folder that only the user may enter", async () => {
  const cache = await start("fresh");
  expect(statSync(cache).mode & 0o777).toBe(0o700);
  expect(readdirSync(cache)).not.toEqual([]);
});

test.for([
  ["open to others", (cache: string) => chmodSync(cache, 0o755)],
  ["a link to another folder", (cache: string) => (rmdirSync(cache), symlinkSync(".", cache))],
  // Only root may give a folder away.
  ...(process.getuid?.() === 0 ? [["another user's", (cache: string) => chownSync(cache, 1, 1)] as const] : []),
] as const)("there is no cache in a folder that is %s", async ([name, spoil]) => {
  const cache = await start(name, (caches) => {
    mkdirSync(join(caches, "redeliver"), { recursive: true, mode: 0o700 });
    spoil(join(caches, "redeliver"));
  });
  expect(readdirSync(cache).filter((each) => each !== "redeliver")).toEqual([]);
});
