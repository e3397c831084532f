import { describe, expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

// Jitter keeps messages that fail together from coming back together, when a service that they need is down.

const messages = Array.from({ length: 200 }, (_, index) => `m${index}`);

const declaration = billingUnder("waits", {
  retry: { attempts: 2, backoff: { kind: "constant", delay: "8s", jitter: "100%" } },
});

describe.concurrent.each(brokers())("a burst under waits on $fullVersion", (broker) => {
  const { deployed, consumed } = liveStage(broker);

  test("200 messages that fail at once come back at five different times, and none early", async () => {
    const system = await deployed(declaration, "waits");
    const waits = system.compiled.topology.queues.filter(({ role }) => role === "wait").map(({ name }) => name);
    expect(waits).toHaveLength(5);
    const all = Promise.withResolvers<void>();
    let inHand = 0;
    const failedAtMs = new Map<string, number>();
    const again: { readonly queue: string; readonly waitedMs: number }[] = [];
    const options = { breaker: false, concurrency: messages.length } as const;
    await consumed({ ...system, options }, async ({ id }, { headers }, attempt) => {
      if (attempt.number === 2) {
        const [death] = headers["x-death"] as readonly { readonly queue: string }[];
        again.push({ queue: death?.queue ?? "", waitedMs: Date.now() - (failedAtMs.get(id) ?? 0) });
        return;
      }
      inHand++;
      if (inHand === messages.length) all.resolve();
      await all.promise;
      failedAtMs.set(id, Date.now());
      throw new Error("what it needs is down");
    });
    await system.publish(messages);
    await until(120_000, () => again.length === messages.length);

    const places = Map.groupBy(again, ({ queue }) => queue);
    // The chance that 200 choices leave out one of five queues is below 1 in 10^18: 5 · (4/5)^200.
    expect(places.size).toBe(5);
    for (const [queue, each] of places) {
      expect(waits).toContain(queue);
      const waitMs = Number(/\.(\d+)ms$/.exec(queue)?.[1]);
      // Both clocks cut off fractions of a millisecond.
      for (const { waitedMs } of each) expect(waitedMs, queue).toBeGreaterThanOrEqual(waitMs - 1);
      // The chance that one queue has half of them is below 1 in 10^18: 5 · exp(-200 · 0.22), after Chernoff.
      expect(each.length, queue).toBeLessThan(messages.length / 2);
    }
    // The shortest wait ends eight seconds before the longest, so the longest holds up no other message.
    const [shortest, longest] = [waits.at(0), waits.at(-1)];
    expect(again.findLastIndex(({ queue }) => queue === shortest)).toBeLessThan(
      again.findIndex(({ queue }) => queue === longest),
    );
  });
});
