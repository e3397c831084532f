import { describe, test, type TestContext } from "vitest";

import { type Cluster, startCluster } from "../support/broker-cluster.ts";
import type { BrokerVersion } from "../support/broker-images.ts";
import { concurrency, type CourseRecord, startFaultCourse } from "../support/consume/fault-course.ts";
import type { Strategy } from "../support/consume/fates.ts";
import type { FaultName } from "../support/consume/faults.ts";
import { brokers } from "../support/live.ts";
import { seedOfThisRun } from "../support/random-fates.ts";

/** Every strategy on every version that has it, side by side on one cluster. */
const runs: readonly { readonly version: BrokerVersion; readonly strategies: readonly Strategy[] }[] = [
  { version: "4.3", strategies: ["native", "deferred", "staged", "waits"] },
  { version: "4.0", strategies: ["staged", "waits"] },
];
/** The faults that move no leader come first, so that consumers and leaders share a node as long as possible. */
const course: readonly FaultName[] = [
  "memory alarm",
  "disk alarm",
  "packet loss",
  "silent link",
  "partition",
  "pause",
  "leader kill",
  "cut link",
  "rolling restart",
];
const faultMs = 20_000;
/** Of each strategy. Some are left when the last fault is over, so that every fault meets messages on their way. */
const messages = 20_000;
const handlingMs = 200;
const seed = seedOfThisRun();
/** The longest time in which a consumer may be idle while the broker serves a plain client at the same node. */
const longestStallMs = 15_000;
const longestMs = 25 * 60_000;

/**
 * With a broker from the environment there may be no Docker to start a cluster. Faults in the nodes' network need root.
 */
const canPlay = brokers().some((broker) => broker.containerId !== undefined) && process.getuid?.() === 0;

/** Reports every broken promise, not only the first. */
function expectAsPromised({ expect }: Pick<TestContext, "expect">, record: CourseRecord): void {
  const { strategy, lost, wrong, above, early, unfinished } = record;
  const found = { lost, wrong, above, early, unfinished };
  expect.soft(found, strategy).toEqual({ lost: [], wrong: [], above: [], early: [], unfinished: null });
  const lostByBroker = record.lostByBroker.join("\n");
  if (lostByBroker !== "") console.warn(`${strategy}: RabbitMQ has lost dead letters on their way\n${lostByBroker}`);
  expect.soft(record.lostByBroker.length, lostByBroker).toBeLessThanOrEqual(record.mostLostByBroker);
  expect.soft(record.doubled, `${strategy}: doubled`).toBeLessThanOrEqual(record.mostDoubled);
  expect.soft(record.heldAtMost, `${strategy}: held`).toBeLessThanOrEqual(concurrency);
  expect.soft(record.unsettledAtMost, `${strategy}: held, by the broker`).toBeLessThanOrEqual(record.mostUnsettled);
}

describe.runIf(canPlay).concurrent.each(runs)("a cluster of three nodes of $version", ({ version, strategies }) => {
  /** Plays faults one after the other while each consumer has `count` messages. */
  async function playAll(
    cluster: Cluster,
    names: readonly FaultName[],
    count: number,
  ): Promise<readonly CourseRecord[]> {
    const { play, finish, close } = await startFaultCourse(cluster, strategies, { count, seed, handlingMs });
    try {
      for (const name of names) await play(name, faultMs);
      return await finish();
    } finally {
      await close();
    }
  }

  test(
    `${course.join(", ")}, among ${messages} messages under each of ${strategies.join(", ")}; then an outage of a dependency: no message is lost, doubled or stuck beyond the promises (FATES_SEED=${seed})`,
    { timeout: longestMs },
    async (context) => {
      const { expect } = context;
      const cluster = await startCluster(version, 20_000);
      context.onTestFinished(() => cluster.stop());
      const records = await playAll(cluster, course, messages);
      for (const record of records) {
        expectAsPromised(context, record);
        expect.soft(record.leftAfterFaults, `${record.strategy}: left when the last fault was over`).toBeGreaterThan(0);
      }
      for (const { unexcused, unexcusedBy, strategy } of records) {
        const stalled = `${strategy}: ${unexcusedBy}, ${JSON.stringify(unexcused)}`;
        expect.soft(unexcused.servedMs, stalled).toBeLessThanOrEqual(longestStallMs);
      }
      // Attempts may repeat without limit here. The pauses between them must have their full length.
      for (const record of await playAll(cluster, ["outage"], 1_000)) {
        expectAsPromised(context, record);
        expect.soft(record.pauses, record.strategy).toBeGreaterThan(0);
      }
    },
  );
});
