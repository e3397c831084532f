import { describe, test } from "vitest";

import { startBroker, waitUntilReady } from "../support/broker-containers.ts";
import type { BrokerVersion } from "../support/broker-images.ts";
import { docker } from "../support/broker-images.ts";
import type { Strategy } from "../support/consume/fates.ts";
import { consumeFated, endsOf, fill, mostDeadLettersDoubled, succeeded } from "../support/consume/fates.ts";
import { until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

/** Every strategy on every version that has it, side by side on one broker, and how many messages each is given. */
const runs: readonly { readonly version: BrokerVersion; readonly messages: Partial<Record<Strategy, number>> }[] = [
  { version: "4.3", messages: { native: 5_000, deferred: 500, staged: 500, waits: 500 } },
  { version: "4.0", messages: { staged: 500, waits: 5_000 } },
  { version: "3.10", messages: { staged: 500, waits: 5_000 } },
];

const concurrency = 50;
/**
 * What a broker was told a moment ago is on disk only when this is done: Mnesia's log, and the tables in which Ra keeps which queues there are. A
 * broker that is killed before has lost the queue.
 */
const syncTables = ["rabbitmqctl", "eval", "catch mnesia:sync_log(), [catch dets:sync(Table) || Table <- dets:all()]."];
/** A queue may not be there while a broker starts; at-least-once dead-lettering tries again after this time. */
const deadLetterAgainMs = 20_000;
const longestMs = 240_000;

/** A broker from the environment is not ours to kill, and there may be no Docker then. */
const isOurs = (version: BrokerVersion): boolean =>
  brokers().some((broker) => broker.version === version && broker.containerId !== undefined);

describe.concurrent.each(runs)("on $version", ({ version, messages }) => {
  const given = Object.entries(messages) as [Strategy, number][];
  const what = given.map(([strategy, count]) => `${strategy} ${count}`).join(", ");

  test.runIf(isOurs(version))(
    `the broker is killed in the middle of the messages and comes back: each ends as it should (${what})`,
    { timeout: longestMs + 120_000 },
    async ({ expect, onTestFinished }) => {
      const { broker, exec, stop } = await startBroker(version, undefined, { deadLetterAgainMs });
      onTestFinished(stop);
      const filled = await Promise.all(given.map(([strategy, count]) => fill(broker, strategy, count)));
      await exec(syncTables);
      const killed = Promise.withResolvers<void>();
      const course = { concurrency, longestMs: 80, happened: killed.promise };
      const consumers = await Promise.all(filled.map((each) => consumeFated(broker, each, course)));
      onTestFinished(async () => {
        await Promise.all(consumers.map(({ billing }) => billing.running.stop("1s")));
      });
      await until(longestMs, () => consumers.every(({ billing }) => billing.runs.length >= 150));
      await docker("kill", broker.containerId ?? "");
      const before = consumers.map(({ billing }) => ({
        ended: new Set(succeeded(billing)),
        runs: billing.runs.length,
      }));
      killed.resolve();
      await docker("start", broker.containerId ?? "");
      await waitUntilReady(broker.managementUrl, broker.amqpUrl);

      await Promise.all(
        consumers.map(async (consumer, index) => {
          const { strategy, system, ids, shouldBeDead, billing } = consumer;
          const { well, dead } = await endsOf(consumer, longestMs);
          // A message that was in hand has been delivered once more for nothing, and none of those that succeed is so near to its end.
          expect([...new Set(dead)].toSorted(), strategy).toEqual(shouldBeDead.toSorted());
          expect(new Set(well).size, strategy).toBe(ids.length - shouldBeDead.length);
          // What was in hand, or was settled without the broker having noted it, is as much as a consumer may hold: the broker gives it a new
          // message only when it has noted the end of an old one.
          const again = billing.runs.slice(before[index]?.runs).filter(({ id }) => before[index]?.ended.has(id));
          expect(new Set(again.map(({ id }) => id)).size, strategy).toBeLessThanOrEqual(concurrency);
          const doubled = well.length + dead.length - ids.length;
          expect(doubled, strategy).toBeLessThanOrEqual(concurrency + mostDeadLettersDoubled(system));
        }),
      );
    },
  );
});
