import { enableCompileCache, flushCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";

import type { ThreadData, ThreadMessage } from "./supervise.ts";

/** The thread of a command: see `supervise.ts`. */
const { words, cacheFolder, terminals } = workerData as ThreadData;
if (cacheFolder !== null) enableCompileCache(cacheFolder);
// The streams of a thread do not know their destination, so the main thread tells them.
for (const [index, stream] of [process.stdout, process.stderr].entries()) {
  const { isTTY, columns, hasColors } = terminals[index] ?? { isTTY: false, columns: 80, hasColors: false };
  Object.assign(stream, { isTTY, columns, hasColors: () => hasColors });
}
/** The ways to the streams. Later the standard output may lead others to the standard error. */
const ways = [process.stdout, process.stderr].map((stream) => stream.write.bind(stream));
// No await at the top. If one never ended, Node would print its place.
void begin();

async function begin(): Promise<void> {
  const { run } = await import("./run.ts");
  const exitCode = await run(words);
  // The streams so far have sent only the first part of their text.
  await Promise.all(ways.map(written));
  // A stopped thread does not write the cache, so the next start would be slow.
  flushCompileCache();
  parentPort?.postMessage({ kind: "done", exitCode } satisfies ThreadMessage, []);
}

async function written(write: typeof process.stdout.write): Promise<void> {
  await new Promise<void>((done) => {
    write("", () => done());
  });
}
