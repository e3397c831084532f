import { resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import type { SkewedInput } from "../support/consume/skewed-process.ts";
import { until } from "../support/deployed-system.ts";
import { checked } from "../support/examples.ts";
import { brokers } from "../support/live.ts";

const script = resolve(import.meta.dirname, "../support/consume/skewed-process.ts");
const delaysMs = [900, 1_800, 3_600] as const;
const declaration = billingUnder("deferred", {
  retry: { attempts: 4, backoff: { kind: "exponential", first: "900ms", factor: 2, max: "10s" } },
});
const messages = Array.from({ length: 30 }, (_, index) => `m${index}`);
const cases = [
  { name: "right", processes: 1, offsetsMs: [0, 0] },
  { name: "5 s behind the broker's", processes: 1, offsetsMs: [-5_000, -5_000] },
  { name: "5 s ahead of the broker's", processes: 1, offsetsMs: [5_000, 5_000] },
  { name: "5 s behind, in two processes", processes: 2, offsetsMs: [-5_000, -5_000] },
  { name: "5 s behind, and then set right", processes: 1, offsetsMs: [-5_000, 0] },
  { name: "right, and then set back by 5 s", processes: 1, offsetsMs: [0, -5_000] },
  { name: "right, and then set forward by 5 s", processes: 1, offsetsMs: [0, 5_000] },
] as const;

describe.concurrent.each(
  brokers()
    .filter(({ version }) => version === "4.3")
    .flatMap((broker) => cases.map((each) => ({ ...each, broker }))),
)("a consumer's clock is $name", ({ broker, processes, offsetsMs }) => {
  const { deployed, spawned } = liveStage(broker);

  test("no retry comes before its delay, and each attempt is made once", async () => {
    const system = await deployed(declaration, "deferred");
    const input: SkewedInput = {
      system: checked(declaration),
      version: broker.version,
      url: system.url,
      concurrency: messages.length,
      offsetsMs,
    };
    const started = Array.from({ length: processes }, () => spawned(script, input));
    const lines = (): readonly string[] => started.flatMap((each) => each.lines);
    await until(60_000, () => lines().filter((line) => line === "ready").length === processes);
    await system.publish(messages);
    await until(120_000, () => lines().length >= processes + messages.length * 4);
    const runs = lines()
      .filter((line) => line !== "ready")
      .map((line) => line.split(" "));
    for (const id of messages) {
      const own = runs.filter(([of]) => of === id).toSorted((one, other) => Number(one[1]) - Number(other[1]));
      expect(
        own.map(([, attempt]) => attempt),
        id,
      ).toEqual(["1", "2", "3", "4"]);
      for (const [index, delayMs] of delaysMs.entries()) {
        const gapMs = Number(own[index + 1]?.[2]) - Number(own[index]?.[2]);
        expect(gapMs, `${id}, attempt ${index + 2}`).toBeGreaterThanOrEqual(delayMs);
      }
    }
    await system.deadIds(messages.length);
  });
});
