import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";

import {
  type DeadQueueInput,
  groupLetters,
  openDeadQueue,
  openJournal,
  planLetters,
  redriveIn,
  redriveLetters,
  tellRedrives,
} from "../../src/dead-letters/index.ts";
import type { ConsumeEvent } from "../../src/consume/index.ts";

/** Longer than any test. So a step that ends has ended by the consumer's word. */
const waitMs = 3_600_000;

/**
 * Sends 111 letters again by the library, while a consumer tells their ends.
 *
 * @param consuming starts a consumer with this log, whose handler succeeds
 */
export async function redriveWithWords(
  input: DeadQueueInput,
  consuming: (log: (event: ConsumeEvent) => void) => Promise<{ readonly stop: () => Promise<unknown> }>,
): Promise<void> {
  const file = join(mkdtempSync(join(tmpdir(), "redeliver-words-")), "journal.sqlite");
  const [journal, theirs] = [await openJournal(file), await openJournal(file)];
  const dead = await openDeadQueue(input);
  const running = await consuming(tellRedrives(theirs));
  onTestFinished(async () => {
    await running.stop();
    await dead.letters.close();
    await Promise.all([journal.close(), theirs.close()]);
  });
  const { groups } = await groupLetters(dead, {});
  expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(111);
  const plan = await planLetters(dead, { waitMs });
  expect(plan).toMatchObject({ letters: 111, steps: [1, 10, 100] });
  expect(plan.stay).toEqual({});
  const end = await redriveLetters({ dead, journal, who: "anna" }, { waitMs, confirm: 111, why: "it is mended" });
  expect(end).toMatchObject({ state: "done", sent: 111, diedAgain: 0, mayBeDoubled: 0, stopped: null });
  const { redrive, events } = await redriveIn(journal, end.id);
  expect(redrive).toMatchObject({ who: "anna", why: "it is mended", state: "done" });
  expect(events.map(({ what }) => what)).toEqual([
    "began with 111 letters",
    "sends letters 1 to 1",
    "sends letters 2 to 11",
    "sends letters 12 to 111",
    "done; 111 letters sent",
  ]);
  expect(await journal.told(end.id)).toEqual({ told: 111, dead: 0 });
}
