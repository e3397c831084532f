import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { Cluster } from "../broker-cluster.ts";
import { docker } from "../broker-images.ts";
import { sleep } from "../deployed-system.ts";
import { restartBroker } from "../live.ts";
import type { AmqpProxy } from "./amqp-proxy.ts";

/** The parts that faults act on. */
export interface FaultStage {
  readonly cluster: Cluster;
  /** The virtual hosts with the queues that move their leaders. */
  readonly vhosts: readonly string[];
  /** For each node, the consumers' links with it. */
  readonly links: readonly (readonly AmqpProxy[])[];
  /** While true, every handler fails for now. */
  isOutage: boolean;
}

interface Fault {
  /** The number of times that the queues may lose their leaders by it. */
  readonly leadersLost: number;
  /** The broker accepts no publications. */
  readonly isAlarm?: true;
  /** Causes the fault for this time and then undoes it in any case. */
  readonly play: (stage: FaultStage, forMs: number) => Promise<void>;
}

export type FaultName = keyof typeof plays;

/** A tenth of all packets, in each direction. */
const lossProbability = 0.1;
const amqpPort = "5672";
const distributionPort = "25672";

/** On a busy machine the kernel may not freeze all processes of a container in time, and Docker gives up. */
async function pauseContainer(container: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await docker("pause", container);
      return;
    } catch (error) {
      if (attempt === 5) throw error;
      await sleep(500);
    }
  }
}

/** A container that was never paused needs no action. Other errors are thrown. */
async function unpauseContainer(container: string): Promise<void> {
  await docker("unpause", container).catch((error: Error) => {
    if (!error.message.includes("is not paused")) throw error;
  });
}

/** The faults of a cluster of three nodes and its links. Each is undone after its time. */
const plays = {
  /** The node of the leaders and most consumers is cut off from the two others. Clients still reach it. */
  partition: {
    leadersLost: 2,
    play: async (stage, forMs) => {
      const node = await gather(stage, mostUsed);
      const indexes = [...stage.cluster.nodes.keys()].filter((index) => index !== node);
      const others = await Promise.all(indexes.map((index) => addressOf(stage.cluster, index)));
      const rules = others.flatMap((address) => [
        ["INPUT", "--source", address],
        ["OUTPUT", "--destination", address],
      ]);
      await dropping(stage.cluster, node, rules, forMs);
    },
  },
  /** The same node stands still; its connections stay open. */
  pause: {
    leadersLost: 2,
    play: async (stage, forMs) => {
      const container = containerOf(stage.cluster, await gather(stage, mostUsed));
      await during(forMs, { begin: () => pauseContainer(container), undo: () => unpauseContainer(container) });
    },
  },
  /** Between the nodes, and between them and the clients. */
  "packet loss": {
    leadersLost: 1,
    play: async (stage, forMs) => {
      const some = ["--match", "statistic", "--mode", "random", "--probability", String(lossProbability)];
      const rules = [
        ["INPUT", "--protocol", "tcp", "--dport", amqpPort, ...some],
        ["OUTPUT", "--protocol", "tcp", "--sport", amqpPort, ...some],
        ["INPUT", "--protocol", "tcp", "--dport", distributionPort, ...some],
        ["INPUT", "--protocol", "tcp", "--sport", distributionPort, ...some],
      ];
      await Promise.all(stage.cluster.nodes.map((_, index) => dropping(stage.cluster, index, rules, forMs)));
    },
  },
  /** One node is over its limit, and all stop reading from connections that publish. */
  "memory alarm": {
    leadersLost: 0,
    isAlarm: true,
    play: async ({ cluster }, forMs) => {
      const limit = (...value: readonly string[]) =>
        nodeOf(cluster, 0).exec(["rabbitmqctl", "set_vm_memory_high_watermark", ...value]);
      await during(forMs, { begin: () => limit("0.00001"), undo: () => limit("absolute", "2GB") });
    },
  },
  "disk alarm": {
    leadersLost: 0,
    isAlarm: true,
    play: async ({ cluster }, forMs) => {
      const limit = (value: string) => nodeOf(cluster, 0).exec(["rabbitmqctl", "set_disk_free_limit", value]);
      await during(forMs, { begin: () => limit("900000GB"), undo: () => limit("50MB") });
    },
  },
  /** Each node is stopped in good order and started again, one after the other, without a time limit. */
  "rolling restart": {
    leadersLost: 3,
    play: async ({ cluster }) => {
      for (const { broker } of cluster.nodes) await restartBroker(broker);
    },
  },
  /** The node of the leaders is killed like in a power failure. Most consumers are connected to another one. */
  "leader kill": {
    leadersLost: 1,
    play: async (stage, forMs) => {
      const node = await gather(stage, leastUsed);
      const { kill, revive } = stage.cluster;
      await during(forMs, { begin: () => kill(node), undo: () => revive(node) });
    },
  },
  /** The open connections let nothing through any more, and stay open. New ones do not have this fault. */
  "silent link": {
    leadersLost: 0,
    play: async ({ links }, forMs) => {
      for (const link of links.flat()) link.silenceAll();
      await sleep(forMs);
    },
  },
  /** All connections are cut, again and again. */
  "cut link": {
    leadersLost: 0,
    play: async ({ links }, forMs) => {
      for (const until = Date.now() + forMs; Date.now() < until; await sleep(5_000))
        for (const link of links.flat()) link.cutAll();
    },
  },
  /** The dependency of all handlers is away. */
  outage: {
    leadersLost: 0,
    play: async (stage, forMs) => {
      const set = async (isOutage: boolean) => void Object.assign(stage, { isOutage });
      await during(forMs, { begin: () => set(true), undo: () => set(false) });
    },
  },
} as const satisfies Readonly<Record<string, Fault>>;

export const faults: Readonly<Record<FaultName, Fault>> = plays;

async function during(
  forMs: number,
  { begin, undo }: { readonly begin: () => Promise<unknown>; readonly undo: () => Promise<unknown> },
): Promise<void> {
  try {
    await begin();
    await sleep(forMs);
  } finally {
    await undo();
  }
}

/** Moves the leaders of all queues to one node. @returns its number */
async function gather(stage: FaultStage, chosen: (stage: FaultStage) => number): Promise<number> {
  const node = chosen(stage);
  await stage.cluster.moveLeaders(stage.vhosts, node, node);
  return node;
}

const connectionsOf = ({ links }: FaultStage): readonly number[] =>
  links.map((each) => each.reduce((sum, link) => sum + link.connections(), 0));

/** The node that most consumers are connected to. */
function mostUsed(stage: FaultStage): number {
  const connections = connectionsOf(stage);
  return connections.indexOf(Math.max(...connections));
}

function leastUsed(stage: FaultStage): number {
  const connections = connectionsOf(stage);
  return connections.lastIndexOf(Math.min(...connections));
}

function nodeOf(cluster: Cluster, index: number): Cluster["nodes"][number] {
  const node = cluster.nodes[index];
  if (node === undefined) throw new Error(`there is no node ${index}`);
  return node;
}

const containerOf = (cluster: Cluster, index: number): string => nodeOf(cluster, index).broker.containerId;

const addressOf = (cluster: Cluster, index: number): Promise<string> =>
  inspect(cluster, index, "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}");

const inspect = (cluster: Cluster, index: number, format: string): Promise<string> =>
  docker("inspect", "--format", format, containerOf(cluster, index));

const runFile = promisify(execFile);

/**
 * Drops packets that match these rules in a node's own network. The container has no iptables, so this uses the
 * machine's own, and needs root.
 */
async function dropping(cluster: Cluster, index: number, rules: readonly (readonly string[])[], forMs: number) {
  const processId = await inspect(cluster, index, "{{.State.Pid}}");
  const iptables = (...words: readonly string[]) =>
    runFile("nsenter", ["--target", processId, "--net", "iptables", "--wait", ...words]);
  await during(forMs, {
    begin: async () => {
      for (const rule of rules) await iptables("--append", ...rule, "--jump", "DROP");
    },
    undo: () => iptables("--flush"),
  });
}
