import { describe, expect, test } from "vitest";

import { stopInHand } from "../support/consume/stopped-course.ts";
import { consuming, type Handle, untilCount } from "../support/sqs/consuming.ts";
import { deploy } from "../support/sqs/deployed-system.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

const attempts = 2;
/** The visibility timeout of an unreturned message lasts longer than any test. */
const billing = { from: { orders: "all" }, handlerTimeout: "10m" };
const strategies = {
  redrive: { ...billing, retry: { attempts, backoff: { kind: "constant", delay: "2s" } } },
  visibility: { ...billing, retry: { attempts, backoff: { kind: "linear", first: "1s" } } },
} as const;

describe.concurrent.each(sqsEmulators())("the cost of stops on $name $version", (emulator) => {
  test.for(["redrive", "visibility"] as const)(
    "a message in hand comes back at once, and each return costs an attempt: %s",
    async (strategy, { onTestFinished }) => {
      const system = await deploy(emulator, { billing: strategies[strategy] }, strategy);
      onTestFinished(system.dispose);
      await system.lab.send(system.work("billing"), "order 1");
      for (let attempt = 1; attempt <= attempts; attempt += 1) {
        const runs = await stopInHand(1, async (handler, options) =>
          consuming(system, "billing", handler as Handle, options),
        );
        expect(runs).toMatchObject([{ body: "order 1", attempt }]);
        expect(await system.lab.count(system.dead("billing"))).toBe(0);
      }
      // Only a receive moves the message to the dead queue, so the test starts one more consumer. That consumer never
      // sees it.
      const last = await consuming(system, "billing", () => undefined);
      await untilCount(system, "dead", "billing", 1);
      await last.stop();
      expect(last.runs).toEqual([]);
    },
  );
});
