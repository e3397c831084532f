import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { deploy, sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { standStill } from "../support/stand-still.ts";
import { strategiesOn } from "../support/strategies.ts";

const cases = brokers()
  .filter(({ containerId }) => containerId !== undefined)
  .flatMap((broker) =>
    strategiesOn(broker.version).flatMap((strategy) =>
      [0, 5].map((ready) => ({
        broker,
        strategy,
        ready,
        name: `${strategy} on ${broker.version}, ${ready} are ready`,
      })),
    ),
  );
const messages = Array.from({ length: 300 }, (_, index) => `m${index}`);

class ValidationError extends Error {
  override readonly name = "ValidationError";
}

// A broker's channel keeps settlements to itself while the queue has many others to handle, and forgets them when it ends.
test.concurrent.each(cases)(
  "no message comes back that was settled while its consumer stopped: $name",
  async ({ broker, strategy, ready }) => {
    const declaration = billingUnder(strategy, { errors: { permanent: ["ValidationError"] } });
    await using system = await deploy(broker, declaration, strategy);
    const gate = Promise.withResolvers<void>();
    let inHand = 0;
    const options = { breaker: false, concurrency: messages.length } as const;
    const { running, runs } = await consumeFrom({ ...system, options }, async ({ id }) => {
      const place = inHand++;
      await gate.promise;
      // One after the other, so that each is settled by a frame of its own.
      for (let turn = 0; turn < place; turn++) await setImmediate();
      if (Number(id.slice(1)) % 2 === 1) throw new ValidationError("never valid");
    });
    await system.publish(messages);
    await until(60_000, () => inHand === messages.length);
    // No handler is free for these.
    const others = Array.from({ length: ready }, (_, index) => `other${index}`);
    await system.publish(others);
    const stopped = running.stop("30s");
    // Long enough to end the taking. On a slower machine the test shows less, and still passes.
    await sleep(1_000);
    const goOn = await standStill(broker, system, "shop.billing", 12_000);
    gate.resolve();
    await until(60_000, () => runs.length === messages.length);
    // A consumer that stops waits for the queue until its time is over.
    await sleep(8_000);
    await goOn();
    await stopped;
    const dead = await system.deadIds(messages.length / 2);
    const left = await system.drain("shop.billing");
    expect(left.map(({ properties }) => String(properties.messageId))).toEqual(others);
    expect(left.filter(({ fields }) => fields.redelivered)).toEqual([]);
    expect(dead.toSorted()).toEqual(messages.filter((_, index) => index % 2 === 1).toSorted());
    expect(runs).toHaveLength(messages.length);
  },
);
