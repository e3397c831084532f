import { describe, expect, test } from "vitest";

import { startBroker } from "../support/broker-containers.ts";
import { billingUnder } from "../support/consume/billing-under.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { versionsWithStrategies } from "../support/strategies.ts";

const longestMs = 240_000;
/** By default the consumer timeout is 30 minutes, and the broker checks it once a minute. */
const settings = {
  configuration: "consumer_timeout = 2000\n",
  files: { "/etc/rabbitmq/advanced.config": "[{rabbit, [{channel_tick_interval, 1000}]}].\n" },
};

/** Without containers the test has no broker of its own to configure. */
const hasContainers = brokers().some(({ containerId }) => containerId !== undefined);

describe.runIf(hasContainers).concurrent.each(versionsWithStrategies)("on $version", ({ version, strategies }) => {
  test(
    `a handler exceeds the consumer timeout: the broker takes its message back, the consumer goes on, and no message is lost (${strategies.join(", ")})`,
    { timeout: longestMs },
    async ({ onTestFinished }) => {
      const { broker, stop } = await startBroker(version, undefined, settings);
      onTestFinished(stop);
      await Promise.all(
        strategies.map(async (strategy) => {
          const declaration = billingUnder(strategy);
          const system = await deploy(broker, declaration, strategy);
          const again = Promise.withResolvers<void>();
          const options = { concurrency: 2 };
          const billing = await consumeFrom({ ...system, options }, async ({ id }) => {
            if (id !== "held") return;
            if (billing.runsOf(id).length === 1) await again.promise;
            else again.resolve();
          });
          onTestFinished(() => billing.running.stop("1s"));
          await system.publish(["held", "before"]);
          await until(longestMs / 2, () => billing.runsOf("held").length >= 2);
          await system.publish(["after"]);
          await until(longestMs / 2, () => billing.kinds().filter((kind) => kind === "settled").length === 3);
          await until(longestMs / 2, () => billing.kinds().includes("settle-dropped"));
          await billing.running.stop();
          // A delivery that the broker takes back costs no attempt.
          expect(
            billing.runs.map(({ id, attempt }) => `${id} ${attempt}`),
            strategy,
          ).toEqual(["held 1", "before 1", "held 1", "after 1"]);
          expect(billing.kinds(), strategy).toContain("reconnected");
          for (const queue of ["shop.billing", "shop.billing.dead"])
            expect(await system.drain(queue), strategy).toEqual([]);
          await system.dispose();
        }),
      );
    },
  );
});
