import { describe, test } from "vitest";

import { until } from "../support/deployed-system.ts";
import { consuming, untilCount } from "../support/sqs/consuming.ts";
import { deploy } from "../support/sqs/deployed-system.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

const attempts = 2;
/** Long enough that a message which is not handed back stays hidden for longer than any test waits. */
const billing = { from: { orders: "all" }, handlerTimeout: "10m" };
const strategies = {
  redrive: { ...billing, retry: { attempts, backoff: { kind: "constant", delay: "2s" } } },
  visibility: { ...billing, retry: { attempts, backoff: { kind: "linear", first: "1s" } } },
} as const;

for (const emulator of sqsEmulators()) {
  describe.concurrent(`what stops cost on ${emulator.name} ${emulator.version}`, { timeout: 240_000 }, () => {
    test.for(["redrive", "visibility"] as const)(
      "a message that is in hand comes back at once, and each time costs an attempt: %s",
      async (strategy, { expect, onTestFinished }) => {
        const system = await deploy(emulator, { billing: strategies[strategy] }, strategy);
        onTestFinished(system.dispose);
        await system.lab.send(system.work("billing"), "order 1");
        for (let attempt = 1; attempt <= attempts; attempt += 1) {
          const consumer = await consuming(
            system,
            "billing",
            (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
            { concurrency: 1 },
          );
          await until(120_000, () => consumer.runs.length === 1);
          await consumer.stop("0ms");
          expect(consumer.attemptsOf("order 1")).toEqual([attempt]);
          expect(await system.lab.count(system.dead("billing"))).toBe(0);
        }
        // Nobody moves it but a receive, so it takes one more consumer, which never sees it.
        const last = await consuming(system, "billing", () => undefined);
        await untilCount(system, "dead", "billing", 1);
        await last.stop();
        expect(last.runs).toEqual([]);
      },
    );
  });
}
