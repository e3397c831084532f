import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Cluster, startCluster } from "../support/broker-cluster.ts";
import { startAmqpProxy } from "../support/consume/amqp-proxy.ts";
import {
  brokerOf,
  concurrency,
  consuming,
  countOf,
  haveBegun,
  judge,
  longestMs,
  moveLeadersAndKill,
  vhostsOf,
} from "../support/consume/cluster-course.ts";
import type { Consuming, Strategy } from "../support/consume/fates.ts";
import { type Start, start } from "../support/consume/start.ts";
import { until } from "../support/deployed-system.ts";
import { type Broker, brokers } from "../support/live.ts";
import { createManagement } from "../support/management.ts";

const strategies: readonly Strategy[] = ["native", "deferred", "waits"];
const deadLetterAgainMs = 20_000;

/** With a broker from the environment there may be no Docker to start a cluster. */
const hasContainers = brokers().some((broker) => broker.version === "4.3" && broker.containerId !== undefined);

describe.runIf(hasContainers)("a cluster of three nodes of 4.3", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster("4.3", deadLetterAgainMs);
  });
  afterAll(() => cluster?.stop());

  const nodeUrl = ({ broker: { amqpUrl } }: { readonly broker: Broker }, of: string): string =>
    Object.assign(new URL(of), { host: new URL(amqpUrl).host }).href;

  /** The consumers that are connected with this node. */
  const connectedWith = async (index: number, consumers: readonly Consuming[]): Promise<readonly Consuming[]> => {
    const management = createManagement(brokerOf(cluster, index).managementUrl);
    let open: readonly { readonly vhost: string; readonly node: string }[] = [];
    // The management API lists a new connection a moment late, and an ended one a moment longer.
    await until(longestMs, async () => {
      open = await management.get("connections");
      return consumers.every(({ system, strategy }) => {
        const own = open.filter(({ vhost }) => vhost === system.vhost);
        // Copies use a second connection.
        return own.length === (strategy === "waits" ? 2 : 1);
      });
    });
    const here = new Set(open.filter(({ node }) => node === `rabbit@node${index + 1}`).map(({ vhost }) => vhost));
    return consumers.filter(({ system }) => here.has(system.vhost));
  };

  /** Starts another instance of a running consumer. */
  const startBeside = ({ system }: Consuming): Promise<Start> => start(system, { connection: { url: system.url } });

  test(
    "the leaders of the queues move twice, and their node is killed, among 1,000 messages: the consumers stay connected",
    { timeout: 2 * longestMs },
    (context) => moveLeadersAndKill(context, cluster, strategies, 334),
  );

  test(
    "the node of the connections is killed: the consumers connect to another node, by the same name or from a list",
    { timeout: 2 * longestMs },
    async (context) => {
      const gone = Promise.withResolvers<void>();
      const proxies: Awaited<ReturnType<typeof startAmqpProxy>>[] = [];
      context.onTestFinished(async () => {
        await Promise.all(proxies.map((proxy) => proxy.close()));
      });
      const course = { count: 60, happened: gone.promise };
      const byName = async (url: string): Promise<string> => {
        const proxy = await startAmqpProxy(url);
        proxies.push(proxy);
        return proxy.url;
      };
      const byList = async (url: string): Promise<readonly string[]> => cluster.nodes.map((each) => nodeUrl(each, url));
      const named = await consuming(context, cluster, strategies, { ...course, by: byName });
      const listed = await consuming(context, cluster, strategies, { ...course, by: byList });
      const consumers = [...named, ...listed];
      await haveBegun(consumers, 20);
      const away = await connectedWith(0, listed);
      await cluster.kill(0);
      for (const proxy of proxies) proxy.brokerUrl = brokerOf(cluster, 1).amqpUrl;
      gone.resolve();
      // Another node now gives these consumers their messages.
      const cut = [...named, ...away];
      await until(longestMs, () => cut.every((consumer) => countOf(consumer, "reconnected") > 0));
      await haveBegun(consumers, 60);
      await cluster.revive(0);
      await Promise.all(consumers.map((consumer) => judge(consumer, 1)));
      expect(consumers.map((consumer) => countOf(consumer, "lost"))).toEqual(
        consumers.map((consumer) => (cut.includes(consumer) ? 1 : 0)),
      );
    },
  );

  test(
    "two nodes are away for a while: the consumers send unconfirmed copies again on another channel, and stay connected",
    { timeout: 2 * longestMs },
    async (context) => {
      const gone = Promise.withResolvers<void>();
      const consumers = await consuming(context, cluster, strategies, { count: 60, happened: gone.promise });
      // Thirty messages have ended, and all that are in hand wait. The consumer settles them when the queue has no
      // leader.
      await haveBegun(consumers, 30 + concurrency);
      await cluster.moveLeaders(vhostsOf(consumers), 1, 0);
      await cluster.kill(1, 2);
      gone.resolve();
      // Without a leader, a queue gives no messages and returns no error.
      const starting = Promise.all(consumers.map(startBeside));
      const waits = consumers.find(({ strategy }) => strategy === "waits") ?? expect.unreachable();
      const [starts] = await Promise.all([starting, until(longestMs, () => countOf(waits, "settle-failed") > 0)]);
      expect(starts.map(({ codes }) => codes)).toEqual([["RD823"], ["RD823"], ["RD823"]]);
      await cluster.revive(1, 2);
      await Promise.all(consumers.map((consumer) => judge(consumer, 1)));
      expect(consumers.map((consumer) => countOf(consumer, "lost"))).toEqual([0, 0, 0]);
    },
  );
});
