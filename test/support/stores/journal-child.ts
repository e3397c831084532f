// A process with a redrive in a journal. It takes the lock, begins, and writes its numbers until somebody wants its end.
import { setTimeout } from "node:timers/promises";

import { digestOf, writeFrozen } from "../../../src/operate/frozen.ts";
import { journalIn } from "../../../src/operate/journal.ts";
import { openPostgresql } from "../../../src/dead-letters/journal-postgresql.ts";
import { redriveFacts } from "./redrive-facts.ts";

const [url = "", id = ""] = process.argv.slice(2);
const journal = await journalIn(await openPostgresql(url));
const lock = await journal.lock(redriveFacts.key);
if (lock === null) throw new Error("another process has the lock");
await journal.begin({ ...redriveFacts, id }, writeFrozen([1n, digestOf("letter"), 2n ** 64n - 1n]));
console.log("begun");
for (let sent = 1; ; sent++) {
  const wish = await journal.beat(id, { sent, diedAgain: 0, mayBeDoubled: 0 });
  if (wish !== null) {
    await journal.change(id, { state: "paused", wish: null }, "child@host", "paused");
    break;
  }
  await setTimeout(50);
}
await lock.release();
await journal.close();
