import { describe, expect, test } from "vitest";

import type { ConsumeEvent } from "../../src/consume/index.ts";
import { type FaultedRun, judgeFaulted, type Observed } from "../support/consume/judge-faults.ts";
import type { Fates } from "../support/random-fates.ts";

/** `m1` succeeds at its second attempt, `m2` never. */
const fates: Fates = (id, attempt) => (id === "m2" || (id === "m1" && attempt < 2) ? "transient" : "success");

const run = (id: string, attempt: number, atMs: number): FaultedRun => ({
  id,
  attempt,
  atMs,
  endedAtMs: atMs + 100,
  outcome: fates(id, attempt),
});
const settled = (id: string, attempt: number, atMs: number): Observed["events"][number] => {
  const outcome = fates(id, attempt);
  const reason = outcome === "success" ? null : "again";
  const event: ConsumeEvent = {
    kind: "settled",
    outcome,
    messageId: id,
    attempt,
    durationMs: 100,
    reason,
    error: null,
    isLast: true,
    redriven: null,
  };
  return { atMs, event };
};

const runs = [
  run("m0", 1, 1_000),
  run("m1", 1, 1_000),
  ...[1, 2, 3, 4, 5].map((attempt) => run("m2", attempt, 700 + 300 * attempt)),
  run("m1", 2, 1_300),
  run("m3", 1, 12_000),
].toSorted((one, other) => one.atMs - other.atMs);
/** A course without faults, except that `m3` came ten seconds late. The broker served for the last six of them only. */
const whole: Observed = {
  ids: ["m0", "m1", "m2", "m3"],
  fates,
  startedAtMs: 1_000,
  endedAtMs: 13_000,
  runs,
  events: runs.map(({ id, attempt, atMs }) => settled(id, attempt, atMs + 100)),
  moments: Array.from({ length: 120 }, (_, index) => {
    const atMs = 1_000 + index * 100;
    const state = atMs < 5_000 ? "reconnecting" : "running";
    return { atMs, state, isTaking: state === "running", isServed: atMs >= 6_000, isServedByAny: atMs >= 4_000 };
  }),
  letters: [{ id: "m2", reason: "ATTEMPTS_EXHAUSTED" }],
};
const good = { wrong: [], lost: [], lostByBroker: [], doubled: 0, above: [], early: [] };

describe("the judgement about faults of a cluster", () => {
  test("finds nothing in a course without faults, and shows the longest stall with the broker's activity in it", () => {
    const { stall, unexcused, ...rest } = judgeFaulted(whole);
    expect(rest).toEqual(good);
    expect(stall).toEqual({
      fromMs: 2_200,
      toMs: 12_000,
      durationMs: 9_800,
      servedMs: 6_000,
      servedByAnyMs: 8_000,
      takingMs: 7_000,
      states: { reconnecting: 2_800, running: 7_000 },
    });
    expect(unexcused).toEqual(stall);
  });

  test("counts no stall after the last message has had its first attempt", () => {
    const late = { ...whole, runs: [...whole.runs, run("m3", 1, 60_000)], endedAtMs: 90_000 };
    expect(judgeFaulted(late).stall.toMs).toBe(12_000);
  });

  test("counts a message that was never handled as a stall up to the end", () => {
    const deaf = { ...whole, runs: whole.runs.filter(({ id }) => id !== "m3") };
    const { stall, lost } = judgeFaulted(deaf);
    expect([stall.toMs, stall.durationMs]).toEqual([13_000, 10_800]);
    // A settled success counts, even when no record shows its handler's run.
    expect(lost).toEqual([]);
  });

  test.for<readonly [string, Partial<Observed>, object]>([
    [
      "a lost message",
      { events: whole.events.filter(({ event }) => !("messageId" in event && event.messageId === "m3")) },
      {
        lost: ["m3\n11000 ms: attempt 1 began\n11100 ms: it ended as success"],
        wrong: ["m3 had attempts 1 of success and is lost"],
      },
    ],
    [
      "one that only the broker can have lost",
      { letters: [] },
      {
        lostByBroker: [
          expect.stringMatching(/^m2\n.* attempt 1 began\n(.*\n)*.*"outcome":"transient","messageId":"m2","attempt":5/),
        ],
      },
    ],
    ["one that is handled again after its success", { runs: [...whole.runs, run("m0", 1, 12_500)] }, { doubled: 1 }],
    ["one that is dead twice", { letters: [...whole.letters, ...whole.letters] }, { doubled: 1 }],
    ["an attempt too many", { runs: [...whole.runs, run("m2", 6, 12_500)] }, { above: ["m2 had attempt 6"] }],
    [
      "an attempt that is early",
      { runs: whole.runs.map((each) => (each.id === "m1" && each.attempt === 2 ? { ...each, atMs: 1_298 } : each)) },
      { early: ["attempt 2 of m1 began 198 ms after the one before"] },
    ],
  ])("finds %s", ([, otherwise, found]) => {
    expect(judgeFaulted({ ...whole, ...otherwise })).toMatchObject({ ...good, ...found });
  });

  test("counts no attempt as early if the broker never learned of the failure before it", () => {
    const event: ConsumeEvent = { kind: "settle-dropped", messageId: "m1", attempt: 1 };
    const events = [...whole.events, { atMs: 1_200, event }];
    const soon = whole.runs.map((each) => (each.id === "m1" && each.attempt === 2 ? { ...each, atMs: 1_200 } : each));
    expect(judgeFaulted({ ...whole, runs: soon, events }).early).toEqual([]);
    const lost = (atMs: number): Observed["events"] => [
      ...whole.events,
      { atMs, event: { kind: "lost", error: null, nextTryMs: 250 } },
    ];
    expect(judgeFaulted({ ...whole, runs: soon, events: lost(1_150) }).early).toEqual([]);
    expect(judgeFaulted({ ...whole, runs: soon, events: lost(1_090) }).early).toHaveLength(1);
  });
});
