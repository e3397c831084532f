import { describe, expect, test } from "vitest";

import { byQueue } from "../support/dead-command.ts";
import { start } from "../support/dead-journal.ts";
import { deadQueue, fill, stage, takeAll } from "../support/dead-stage.ts";
import { sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

/** Fewer than one consumer may hold, so the broker hands out all of them at once. test/integration/dead-scale.test.ts has more. */
const letters = 10_000;
const kills = 5;

describe.for(brokers())("looks on RabbitMQ $version", { timeout: 300_000 }, (broker) => {
  test("that are killed in the middle lose no letter, and keep the order", async () => {
    const system = await stage(broker);
    const { channel } = system;
    const ids = await fill(system, deadQueue, letters);
    let killed = 0;
    for (let tries = 0; killed < kills && tries < 3 * kills; tries++) {
      const child = start(byQueue(system, tries % 2 === 0 ? "list" : "groups"));
      const isLooking = async (): Promise<boolean> => (await channel.checkQueue(deadQueue)).consumerCount > 0;
      await until(60_000, async () => (await isLooking()) || child.isOver());
      await sleep(Math.random() * 50);
      if (await isLooking()) killed += 1;
      await child.kill();
      await until(60_000, async () => {
        const { consumerCount, messageCount } = await channel.checkQueue(deadQueue);
        return consumerCount === 0 && messageCount === letters;
      });
    }
    expect(killed).toBe(kills);
    expect(await takeAll(system, deadQueue)).toEqual(ids);
  });
});
