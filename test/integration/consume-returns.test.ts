import type { Message } from "redeliver/consume";
import { expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { stopInHand } from "../support/consume/stopped-course.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { strategiesOn } from "../support/strategies.ts";
import { strategyCases } from "../support/live.ts";

const cases = strategyCases(strategiesOn);

/** More stops than attempts and crash budget together. */
const manyStops = 5;

test.concurrent.each(cases)(
  "a message in hand when its consumer stops costs as much as docs/consuming.md says: $name",
  async ({ broker, strategy }) => {
    const declaration = billingUnder(strategy, { crash: { deliveries: 3 } });
    await using system = await deploy(broker, declaration, strategy);
    await system.publish(["a"]);
    const attemptsOfStops = async (times: number): Promise<ReadonlySet<number>> => {
      const all = await stopInHand(times, async (handler, options) => {
        const { running, runs } = await consumeFrom({ ...system, options }, (_, message, attempt) =>
          handler(message as Message<never>, attempt),
        );
        return { runs, stop: running.stop };
      });
      return new Set(all.map(({ attempt }) => attempt));
    };
    // Up to 4.2 a broker counts returns as crashes.
    const isCounted = broker.version !== "4.3";
    expect(await attemptsOfStops(isCounted ? 2 : manyStops), "each run was the same attempt").toEqual(new Set([1]));
    expect(await system.drain("shop.billing.dead")).toEqual([]);
    expect(await attemptsOfStops(1)).toEqual(new Set([1]));
    if (isCounted) {
      const dead: unknown[] = [];
      await until(60_000, async () => {
        dead.push(...(await system.drain("shop.billing.dead")));
        return dead.length > 0;
      });
      return;
    }
    const last = await consumeFrom(system, () => undefined);
    await until(60_000, () => last.count("settled") > 0);
    await last.running.stop();
    expect(last.runs.map(({ attempt }) => attempt)).toEqual([1]);
    expect(await system.drain("shop.billing.dead")).toEqual([]);
  },
);
