import { expect, onTestFinished, test, vi } from "vitest";

import { createProgress } from "../../src/cli/dead-progress.ts";
import { createPace } from "../../src/dead-letters/pace.ts";

/** Sends letters in steps, one in 10 ms. @returns the lines of the progress */
function linesOf(letters: number, steps: readonly number[], plannedMs: number, waitMs = plannedMs): readonly string[] {
  vi.useFakeTimers({ toFake: ["performance"] });
  const lines: string[] = [];
  const write = vi.spyOn(process.stderr, "write").mockImplementation((line) => lines.push(String(line)) > 0);
  onTestFinished(() => {
    write.mockRestore();
    vi.useRealTimers();
  });
  const report = createProgress("letters sent", letters);
  const pace = createPace(letters, plannedMs);
  let count = 0;
  for (const step of steps) {
    pace.begin();
    for (const until = count + step; count < until;) {
      vi.advanceTimersByTime(10);
      report((count += 1), "", pace.sent());
    }
    vi.advanceTimersByTime(waitMs);
  }
  return lines;
}

test("the time left has the waits that are to come, and the rate has none of those before", () => {
  expect(linesOf(10, [1, 9], 30_000)).toEqual(["redeliver: 2 of 10 letters sent, 100 a second, 31 s left\n"]);
});

test("each step is followed by a wait", () => {
  expect(linesOf(2_111, [1, 10, 100, 1_000, 1_000], 30_000)).toEqual([
    "redeliver: 2 of 2111 letters sent, 100 a second, 142 s left\n",
    "redeliver: 12 of 2111 letters sent, 100 a second, 111 s left\n",
    "redeliver: 112 of 2111 letters sent, 100 a second, 80 s left\n",
    "redeliver: 612 of 2111 letters sent, 100 a second, 75 s left\n",
    "redeliver: 1112 of 2111 letters sent, 100 a second, 40 s left\n",
    "redeliver: 1612 of 2111 letters sent, 100 a second, 35 s left\n",
  ]);
});

test("waits that consumers end early are expected to end early", () => {
  expect(linesOf(111, [1, 10, 100], 30_000, 6_000)[0]).toMatch(/, 100 a second, 14 s left\n$/);
});

test("without a wait the time left is that of sending", () => {
  expect(linesOf(1_000, [1_000], 0)).toEqual(["redeliver: 501 of 1000 letters sent, 100 a second, 5 s left\n"]);
});
