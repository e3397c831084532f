import { expect, test, vi } from "vitest";

import { diagnostic } from "../../src/diagnostics/diagnostic.ts";
import { refused } from "../../src/diagnostics/render.ts";
import { createLosses } from "../../src/operate/losses.ts";

const refusal = (code: "RD804" | "RD805" | "RD807") => () =>
  Promise.reject(refused([diagnostic(code, { path: "", message: `refused with ${code}`, help: "" })]));
const moved = (sent: number, isLost: boolean) => async () => ({ sent, isLost, mayBeDoubled: 0, stopped: null });

/** The seconds after which nothing is tried again. */
async function secondsUntilGivenUp(work: Parameters<ReturnType<typeof createLosses>["surviving"]>[0]) {
  vi.useFakeTimers();
  try {
    const losses = createLosses(async (delayMs) => vi.advanceTimersByTimeAsync(delayMs));
    const startedAtMs = performance.now();
    while (losses.gaveUp() === null) await losses.surviving(work);
    return { seconds: Math.round((performance.now() - startedAtMs) / 1_000), gaveUp: losses.gaveUp() };
  } finally {
    vi.useRealTimers();
  }
}

test("a broker has ten minutes to come back", async () => {
  expect(await secondsUntilGivenUp(refusal("RD804"))).toEqual({ seconds: 603, gaveUp: "refused with RD804" });
  expect((await secondsUntilGivenUp(moved(0, true))).seconds).toBe(603);
});

test("another refusal is tried for half a minute, and is the reason in the end", async () => {
  expect(await secondsUntilGivenUp(refusal("RD807"))).toEqual({ seconds: 33, gaveUp: "refused with RD807" });
});

test("wrong credentials are an error at once", async () => {
  await expect(secondsUntilGivenUp(refusal("RD805"))).rejects.toThrow("refused with RD805");
});

test("a step forward begins the time anew", async () => {
  vi.useFakeTimers();
  try {
    const losses = createLosses(async (delayMs) => vi.advanceTimersByTimeAsync(delayMs));
    for (let minute = 0; minute < 30; minute++) {
      await vi.advanceTimersByTimeAsync(60_000);
      await losses.surviving(moved(1, true));
    }
    expect(losses.gaveUp()).toBeNull();
  } finally {
    vi.useRealTimers();
  }
});
