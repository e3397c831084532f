import { describe, test } from "vitest";

import { startCluster } from "../support/broker-cluster.ts";
import { longestMs, moveLeadersAndKill } from "../support/consume/cluster-course.ts";
import { brokers } from "../support/live.ts";
import { strategiesOn } from "../support/strategies.ts";

const versions = ["4.0", "3.10"] as const;
/** With a broker from the environment there may be no Docker to start a cluster. */
const hasContainers = brokers().some((broker) => broker.containerId !== undefined);

describe.runIf(hasContainers).concurrent("a cluster of three nodes of an older version", () => {
  test.for(versions)(
    "the leaders of the queues move twice, and their node is killed, among 300 messages: the consumers stay connected, on %s",
    { timeout: 2 * longestMs },
    async (version, context) => {
      const cluster = await startCluster(version, 20_000);
      context.onTestFinished(() => cluster.stop());
      await moveLeadersAndKill(context, cluster, strategiesOn(version), 150);
    },
  );
});
