import { expect, test } from "vitest";

import { hintsFor, renderRedrive } from "../../src/report/dead-redrive.ts";

const end = {
  id: "c4772345",
  state: "stopped",
  letters: 10,
  sent: 10,
  diedAgain: 7,
  mayBeDoubled: 0,
  unrecorded: 0,
  stopped: "7 of 10 letters have died again",
  parked: 0,
  stopAbove: 0.1,
} as const;
const first = "10 of 10 letters were sent again by the redrive c4772345; 7 have died again so far\n";

test("a redrive that stops after its last letter leaves none, and nothing goes on", () => {
  expect(renderRedrive(end)).toBe(
    `${first}stopped after the last letter: 7 of 10 letters have died again; no letter is left to send, and those that died again are back in the dead queue\n`,
  );
  const paused = renderRedrive({ ...end, state: "paused", diedAgain: 0, stopped: null });
  expect(paused).toContain("\npaused after the last letter; no letter is left to send\n");
  expect(paused).not.toContain("resume");
  const killed = renderRedrive({ ...end, sent: 8, unrecorded: 2 });
  expect(killed).toContain("no letter is left to send");
});

test("a redrive that stops before its last letter goes on with the others", () => {
  const rest = "all other letters are still in the dead queue\nredeliver dead resume c4772345 goes on\n";
  expect(renderRedrive({ ...end, sent: 9 })).toContain(`\nstopped: 7 of 10 letters have died again; ${rest}`);
  const limit = "It stops again above 10 % dead. A new redrive has the limit of its own --stop-above.\n";
  expect(renderRedrive({ ...end, sent: 9 })).toContain(limit);
  expect(renderRedrive({ ...end, sent: 9, diedAgain: 0, stopped: "the broker refuses" })).not.toContain(limit);
  // It parks before it sends, so it may have parked a part.
  const parking = renderRedrive({ ...end, state: "paused", letters: 0, sent: 0, parked: 2, stopped: null });
  expect(parking).toContain(`\npaused; ${rest}`);
});

test("a queue without a declaration alone shows deaths, and a plan says how letters reach another queue", () => {
  expect(renderRedrive(end, "old.dlq")).toContain("7 have died again so far, as far as old.dlq shows\n");
  const targets = [{ queue: "billing", letters: 3, consumers: 1 }];
  const hints = (workQueue: string | undefined, mayBeEarlier: boolean, others = 0): readonly string[] =>
    hintsFor({ targets, stay: { "from another queue": others } }, workQueue, mayBeEarlier);
  expect(hints("billing.2", false)).toEqual([expect.stringMatching(/^--work-queue is .+ --consumer beside --queue/)]);
  expect(hints(undefined, true, 2)).toEqual([expect.stringMatching(/^If letters are those of a queue/)]);
  for (const none of [hints("billing", false), hints(undefined, true), hints(undefined, false, 2)])
    expect(none).toEqual([]);
});
