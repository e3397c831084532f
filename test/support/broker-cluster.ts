import { randomUUID } from "node:crypto";

import { startBroker, type StartedBroker, waitUntilReady } from "./broker-containers.ts";
import { type BrokerVersion, docker } from "./broker-images.ts";
import { until } from "./deployed-system.ts";
import { createManagement } from "./management.ts";

/** Three brokers that form a cluster, each in a container of its own. */
export interface Cluster {
  readonly nodes: readonly StartedBroker[];
  /** Moves the leaders of all queues of these virtual hosts to one node, and waits until it has them. */
  readonly moveLeaders: (vhosts: readonly string[], to: number, through: number) => Promise<void>;
  /** Kills nodes like a power failure, and waits until the other nodes have noticed. */
  readonly kill: (...nodes: readonly number[]) => Promise<void>;
  /** Starts killed nodes again, and waits until all queues have their leader. */
  readonly revive: (...nodes: readonly number[]) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const names = ["node1", "node2", "node3"];

/** Starts a cluster on a network of its own. Its queues have three members. */
export async function startCluster(version: BrokerVersion, deadLetterAgainMs: number): Promise<Cluster> {
  const network = `redeliver-test-${randomUUID()}`;
  await docker("network", "create", network);
  const nodes = await Promise.all(
    names.map((node) =>
      startBroker(version, undefined, { deadLetterAgainMs, cluster: { network, node, nodes: names } }),
    ),
  );
  const containers = (indexes: readonly number[]): readonly string[] =>
    indexes.map((index) => node(index).broker.containerId);
  const node = (index: number): StartedBroker => {
    const found = nodes[index];
    if (found === undefined) throw new Error(`there is no node ${index}`);
    return found;
  };
  await until(60_000, async () => (await runningNodes(node(0))) === names.length);
  return {
    nodes,
    moveLeaders: async (vhosts, to, through) => {
      // The lock of a redrive is a classic queue, which has no leader.
      const move = `rabbit_quorum_queue:transfer_leadership(Queue, 'rabbit@${names[to]}')`;
      const queues = `Vhost <- [${vhosts.map((vhost) => `<<"${vhost}">>`).join(", ")}], Queue <- rabbit_amqqueue:list(Vhost), amqqueue:is_quorum(Queue)`;
      // In a second request each queue answers that its leader is there; on 4.3 the answer is an error.
      await until(60_000, async () => {
        const answer = await node(through).exec(["rabbitmqctl", "eval", `lists:usort([${move} || ${queues}]).`]);
        return /^\[\{(error|not_migrated),already_leader\}\]\s*$/m.test(answer);
      });
    },
    kill: async (...indexes) => {
      await docker("kill", ...containers(indexes));
      const survivor = nodes.find((_, index) => !indexes.includes(index)) ?? node(0);
      await until(60_000, async () => (await runningNodes(survivor)) === names.length - indexes.length);
    },
    revive: async (...indexes) => {
      await docker("start", ...containers(indexes));
      await Promise.all(
        indexes.map((index) => waitUntilReady(node(index).broker.managementUrl, node(index).broker.amqpUrl)),
      );
    },
    stop: async () => {
      await Promise.all(nodes.map(({ stop }) => stop()));
      await docker("network", "rm", network);
    },
  };
}

async function runningNodes({ broker }: StartedBroker): Promise<number> {
  const nodes = await createManagement(broker.managementUrl).get<readonly { readonly running: boolean }[]>("nodes");
  return nodes.filter(({ running }) => running).length;
}
