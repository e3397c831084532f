import { expect, type TestContext } from "vitest";

import type { Cluster } from "../broker-cluster.ts";
import { until } from "../deployed-system.ts";
import type { Broker } from "../live.ts";
import { consumeFated, type Consuming, endsOf, fill, mostDeadLettersDoubled, type Strategy } from "./fates.ts";

/** The most messages that a consumer of these tests holds. */
export const concurrency = 10;
export const longestMs = 180_000;

export function brokerOf(cluster: Cluster, index: number): Broker {
  return cluster.nodes[index]?.broker ?? expect.unreachable();
}

/**
 * A consumer of each strategy, connected to the first node, or to the destination of the given URL.
 *
 * @param count the number of messages for each
 * @param happened the event that half of them wait for
 */
export async function consuming(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  cluster: Cluster,
  strategies: readonly Strategy[],
  course: {
    readonly count: number;
    readonly happened: Promise<void>;
    readonly by?: (url: string) => Promise<string | readonly string[]>;
  },
): Promise<readonly Consuming[]> {
  const { count, happened, by = async (url) => url } = course;
  const first = brokerOf(cluster, 0);
  const consumers = await Promise.all(
    strategies.map(async (strategy) => {
      const filled = await fill(first, strategy, count);
      const url = await by(filled.system.url);
      return consumeFated(first, filled, { url, concurrency, longestMs: 200, happened });
    }),
  );
  onTestFinished(async () => {
    await Promise.all(consumers.map(({ billing }) => billing.running.stop("1s")));
  });
  return consumers;
}

export const haveBegun = (consumers: readonly Consuming[], runs: number): Promise<void> =>
  until(longestMs, () => consumers.every(({ billing }) => billing.runs.length >= runs));

export const vhostsOf = (consumers: readonly Consuming[]): readonly string[] =>
  consumers.map(({ system }) => system.vhost);

export const countOf = ({ billing }: Consuming, ...kinds: readonly string[]): number =>
  billing.events.filter(({ kind }) => kinds.includes(kind)).length;

/**
 * Each message must end correctly. A message may double only for three reasons. A copy without an answer was sent
 * again, a connection was lost, or a queue that lost its leader dead-lettered it.
 */
export async function judge(consumer: Consuming, leadersLost: number): Promise<void> {
  const { strategy, system, ids, shouldBeDead } = consumer;
  const { well, dead } = await endsOf(consumer, longestMs);
  expect([...new Set(dead)].toSorted(), strategy).toEqual(shouldBeDead.toSorted());
  expect(new Set(well).size, strategy).toBe(ids.length - shouldBeDead.length);
  const most =
    countOf(consumer, "settle-failed") +
    concurrency * countOf(consumer, "lost") +
    leadersLost * mostDeadLettersDoubled(system);
  expect(well.length + dead.length - ids.length, strategy).toBeLessThanOrEqual(most);
}

/** The leaders of the queues move twice, and then their node is killed, in the middle of the messages. */
export async function moveLeadersAndKill(
  context: Pick<TestContext, "onTestFinished">,
  cluster: Cluster,
  strategies: readonly Strategy[],
  count: number,
): Promise<void> {
  const done = Promise.withResolvers<void>();
  const consumers = await consuming(context, cluster, strategies, { count, happened: done.promise });
  await haveBegun(consumers, count / 10);
  await cluster.moveLeaders(vhostsOf(consumers), 1, 0);
  await cluster.moveLeaders(vhostsOf(consumers), 2, 0);
  await cluster.kill(2);
  done.resolve();
  await haveBegun(consumers, count * 0.9);
  await cluster.revive(2);
  await Promise.all(consumers.map((consumer) => judge(consumer, 3)));
  expect(consumers.map((consumer) => countOf(consumer, "lost"))).toEqual(strategies.map(() => 0));
}
