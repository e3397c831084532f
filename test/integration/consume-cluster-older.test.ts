import { describe, test } from "vitest";

import { startCluster } from "../support/broker-cluster.ts";
import { longestMs, moveLeadersAndKill } from "../support/consume/cluster-course.ts";
import { brokers } from "../support/live.ts";

const versions = ["4.0", "3.10"] as const;
/** Where the broker comes from the environment there may be no Docker to start a cluster with. */
const hasContainers = brokers().some((broker) => broker.containerId !== undefined);

describe.runIf(hasContainers).concurrent("a cluster of three nodes of an older version", () => {
  test.for(versions)(
    "the leaders of the queues move twice, and then their node is killed, in the middle of 300 messages: the consumers go on as they are, on %s",
    { timeout: 2 * longestMs },
    async (version, context) => {
      const cluster = await startCluster(version, 20_000);
      context.onTestFinished(() => cluster.stop());
      await moveLeadersAndKill(context, cluster, ["staged", "waits"], 150);
    },
  );
});
