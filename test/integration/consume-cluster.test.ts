import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import type { Cluster } from "../support/broker-cluster.ts";
import { startCluster } from "../support/broker-cluster.ts";
import { startAmqpProxy } from "../support/consume/amqp-proxy.ts";
import type { Consuming, Strategy } from "../support/consume/fates.ts";
import { consumeFated, endsOf, fill, mostDeadLettersDoubled } from "../support/consume/fates.ts";
import { until } from "../support/deployed-system.ts";
import type { Broker } from "../support/live.ts";
import { brokers } from "../support/live.ts";

const strategies: readonly Strategy[] = ["native", "deferred", "waits"];
const concurrency = 10;
const deadLetterAgainMs = 20_000;
const longestMs = 180_000;

/** Where the broker comes from the environment there may be no Docker to start a cluster with. */
const hasContainers = brokers().some((broker) => broker.version === "4.3" && broker.containerId !== undefined);

describe.runIf(hasContainers)("a cluster of three nodes of 4.3", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster("4.3", deadLetterAgainMs);
  });
  afterAll(() => cluster?.stop());

  const broker = (index: number): Broker => cluster.nodes[index]?.broker ?? expect.unreachable();

  /** A consumer of each strategy, connected to the first node, or to whatever the proxy leads to. */
  const consuming = async (
    count: number,
    happened: Promise<void>,
    by: (url: string) => Promise<string> = async (url) => url,
  ): Promise<readonly Consuming[]> => {
    const consumers = await Promise.all(
      strategies.map(async (strategy) => {
        const filled = await fill(broker(0), strategy, count);
        const url = await by(filled.system.url);
        return consumeFated(broker(0), filled, { url, concurrency, longestMs: 200, happened });
      }),
    );
    onTestFinished(async () => {
      await Promise.all(consumers.map(({ billing }) => billing.running.stop("1s")));
    });
    return consumers;
  };

  const vhostsOf = (consumers: readonly Consuming[]): readonly string[] => consumers.map(({ system }) => system.vhost);

  const haveBegun = (consumers: readonly Consuming[], runs: number): Promise<void> =>
    until(longestMs, () => consumers.every(({ billing }) => billing.runs.length >= runs));

  const count = ({ billing }: Consuming, ...kinds: readonly string[]): number =>
    billing.events.filter(({ kind }) => kinds.includes(kind)).length;

  /**
   * Each message ends as it should. It is doubled only by a copy that was sent again because nothing had been said of it, by a lost connection, or by
   * the dead-lettering of a queue that has lost its leader.
   */
  const judge = async (consumer: Consuming, leadersLost: number): Promise<void> => {
    const { strategy, system, ids, shouldBeDead } = consumer;
    const { well, dead } = await endsOf(consumer, longestMs);
    expect([...new Set(dead)].toSorted(), strategy).toEqual(shouldBeDead.toSorted());
    expect(new Set(well).size, strategy).toBe(ids.length - shouldBeDead.length);
    const most =
      count(consumer, "settle-failed") +
      concurrency * count(consumer, "lost") +
      leadersLost * mostDeadLettersDoubled(system);
    expect(well.length + dead.length - ids.length, strategy).toBeLessThanOrEqual(most);
  };

  test(
    "the leaders of the queues move twice, and then their node is killed, in the middle of 1,000 messages: the consumers go on as they are",
    { timeout: 2 * longestMs },
    async () => {
      const done = Promise.withResolvers<void>();
      const consumers = await consuming(334, done.promise);
      await haveBegun(consumers, 30);
      await cluster.moveLeaders(vhostsOf(consumers), 1, 0);
      await cluster.moveLeaders(vhostsOf(consumers), 2, 0);
      await cluster.kill(2);
      done.resolve();
      await haveBegun(consumers, 300);
      await cluster.revive(2);
      await Promise.all(consumers.map((consumer) => judge(consumer, 3)));
      expect(consumers.map((consumer) => count(consumer, "lost"))).toEqual([0, 0, 0]);
    },
  );

  test(
    "the node of the connections is killed: they are made anew with another one, by the same name",
    { timeout: 2 * longestMs },
    async () => {
      const gone = Promise.withResolvers<void>();
      const proxies: Awaited<ReturnType<typeof startAmqpProxy>>[] = [];
      onTestFinished(async () => {
        await Promise.all(proxies.map((proxy) => proxy.close()));
      });
      const consumers = await consuming(60, gone.promise, async (url) => {
        const proxy = await startAmqpProxy(url);
        proxies.push(proxy);
        return proxy.url;
      });
      await haveBegun(consumers, 20);
      await cluster.kill(0);
      for (const proxy of proxies) proxy.brokerUrl = broker(1).amqpUrl;
      gone.resolve();
      // It is another node that gives them what they take now.
      await until(longestMs, () => consumers.every((consumer) => count(consumer, "reconnected") > 0));
      await haveBegun(consumers, 60);
      await cluster.revive(0);
      await Promise.all(consumers.map((consumer) => judge(consumer, 1)));
      expect(consumers.map((consumer) => count(consumer, "lost"))).toEqual([1, 1, 1]);
    },
  );

  test(
    "two nodes are away for a while: what is not confirmed is sent again on another channel, and the consumers go on as they are",
    { timeout: 2 * longestMs },
    async () => {
      const gone = Promise.withResolvers<void>();
      const consumers = await consuming(60, gone.promise);
      // So many have ended, and all that are in hand wait: what they come to is said when there is no leader.
      await haveBegun(consumers, 30 + concurrency);
      await cluster.moveLeaders(vhostsOf(consumers), 1, 0);
      await cluster.kill(1, 2);
      gone.resolve();
      const waits = consumers.find(({ strategy }) => strategy === "waits") ?? expect.unreachable();
      await until(longestMs, () => count(waits, "settle-failed") > 0);
      await cluster.revive(1, 2);
      await Promise.all(consumers.map((consumer) => judge(consumer, 1)));
      expect(consumers.map((consumer) => count(consumer, "lost"))).toEqual([0, 0, 0]);
    },
  );
});
