import amqplib from "amqplib";
import { expect, onTestFinished, test } from "vitest";

import { operating } from "../../src/brokers/rabbitmq/operate/index.ts";
import { windowLetters } from "../../src/brokers/rabbitmq/operate/move.ts";
import { closeChannel, destroyConnection } from "../../src/brokers/rabbitmq/run/amqp-0-9-1/connect.ts";
import type { RedrivePlan } from "../../src/operate/plan.ts";
import type { RedriveResult } from "../../src/operate/redrive.ts";
import { startCluster } from "../support/broker-cluster.ts";
import { startBroker, waitUntilReady } from "../support/broker-containers.ts";
import { type BrokerVersion, docker } from "../support/broker-images.ts";
import { faults } from "../support/consume/faults.ts";
import { ask } from "../support/dead-command.ts";
import { ownJournal } from "../support/dead-journal.ts";
import { deadQueue, fill, shop, workQueue } from "../support/dead-stage.ts";
import { type DeployedSystem, deploy, until } from "../support/deployed-system.ts";
import { type Broker, brokers } from "../support/live.ts";

// A redrive meets faults of the broker: it loses nothing, and the doubled are counted.

ownJournal();

const letters = 600;
/** A broker from the environment is not ours to kill, and the run says that it uses one. */
const own = brokers().flatMap(({ version, containerId }) =>
  containerId === undefined ? [] : [version as BrokerVersion],
);

/** Writes recent changes to disk. A broker that is killed before has lost the queues. */
const syncTables = ["rabbitmqctl", "eval", "catch mnesia:sync_log(), [catch dets:sync(Table) || Table <- dets:all()]."];

test.each(brokers())("on $version a channel does not wait for ever if its connection ends first", async (broker) => {
  const model = await amqplib.connect(broker.amqpUrl);
  model.on("error", () => undefined);
  await closeChannel(await model.createChannel());
  const channel = await model.createChannel();
  const closing = closeChannel(channel);
  destroyConnection(model);
  await expect(closing).rejects.toThrow("Channel ended");
  await expect(closeChannel(channel)).rejects.toThrow();
});

/** The letters of the dead queue. They stay there. */
async function deadIn({ broker, url }: DeployedSystem): Promise<readonly string[]> {
  const ids: string[] = [];
  const dead = await operating.connect({ url, managementUrl: broker.managementUrl, place: null });
  try {
    await dead.look(deadQueue, ({ properties }) => ids.push(String(properties["messageId"])) > 0);
  } finally {
    await dead.close();
  }
  return ids;
}

/** Does something on a connection of its own, because faults cut the others. */
async function onChannel<Result>(url: string, work: (channel: amqplib.Channel) => Promise<Result>): Promise<Result> {
  const connection = await amqplib.connect(url);
  connection.on("error", () => undefined);
  try {
    return await work(await connection.createChannel());
  } finally {
    await connection.close().catch(() => undefined);
  }
}

async function countIn(url: string, queue: string): Promise<number> {
  return onChannel(url, async (channel) => (await channel.checkQueue(queue)).messageCount);
}

/** Sends letters again, meets the fault when some have gone, and judges the end. */
async function judge(broker: Broker, fault: () => Promise<unknown>): Promise<void> {
  const system = await deploy(broker, shop, "waits");
  const { url } = system;
  const ids = await fill(system, deadQueue, letters);
  await system.disconnect();
  const { letters: confirm } = await ask<RedrivePlan>(system, "plan");
  const running = ask<RedriveResult>(system, "redrive", "--wait=0s", "--rate=40", `--confirm=${confirm}`);
  await until(60_000, async () => (await countIn(url, workQueue)) > 50);
  await fault();
  const result = await running;
  // The broker puts letters of a lost connection back after a while.
  const found = async (): Promise<number> => (await countIn(url, workQueue)) + (await countIn(url, deadQueue));
  await until(120_000, async () => (await found()) >= letters);
  expect((await found()) - letters, result.text).toBeLessThanOrEqual(result.mayBeDoubled);
  expect(result.mayBeDoubled).toBeLessThanOrEqual(11 * windowLetters);
  const left = await deadIn(system);
  expect(left).toEqual(ids.filter((id) => left.includes(id)));
  // The next redrive sends the letters that are left.
  if (left.length > 0) {
    const again = await ask(system, "redrive", "--wait=0s", `--confirm=${left.length}`);
    expect(again).toMatchObject({ code: 0, sent: left.length, stopped: null });
  }
  const sent = await onChannel(url, async (channel) => {
    const all: string[] = [];
    for (let one = await channel.get(workQueue); one !== false; one = await channel.get(workQueue))
      all.push(String(one.properties.messageId));
    return all;
  });
  expect(new Set(sent)).toEqual(new Set(ids));
  expect(sent.length - letters).toBeLessThanOrEqual(result.mayBeDoubled);
}

test.for(own)("the broker is killed in the middle, and starts again: %s", { timeout: 600_000 }, async (version) => {
  const { broker, exec, stop } = await startBroker(version);
  onTestFinished(stop);
  await judge(broker, async () => {
    await exec(syncTables);
    await docker("kill", broker.containerId);
    await docker("start", broker.containerId);
    await waitUntilReady(broker.managementUrl, broker.amqpUrl);
  });
});

const newer = own.filter((version) => version !== "3.10");

test.for(newer)("the leader is isolated for 25 s, and confirms hang: %s", { timeout: 900_000 }, async (version) => {
  if (process.getuid?.() !== 0) throw new Error("only root can isolate a node: run the tests as root");
  const cluster = await startCluster(version, 20_000);
  onTestFinished(cluster.stop);
  const [node] = cluster.nodes;
  if (node === undefined) throw new Error("no node");
  const vhosts = (await node.exec(["rabbitmqctl", "-q", "list_vhosts"])).split("\n");
  await judge(node.broker, async () => {
    const now = (await node.exec(["rabbitmqctl", "-q", "list_vhosts"])).split("\n").map((each) => each.trim());
    const others = now.filter((each) => each !== "" && !vhosts.includes(each));
    // Without links, the leaders move to the first node, which is the redrive's own.
    await faults.partition.play({ cluster, vhosts: others, links: [[], [], []], isOutage: false }, 25_000);
  });
});
