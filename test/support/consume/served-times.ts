import type { Channel, ChannelModel, ConsumeMessage } from "amqplib";

import { connectByAmqp091, destroyConnection } from "../../../src/brokers/rabbitmq/run/amqp-0-9-1/connect.ts";
import type { Cluster } from "../broker-cluster.ts";
import { createVhost } from "../live.ts";
import { createManagement } from "../management.ts";

/** The interval of requests to each node. */
const everyMs = 500;
/** A node without an answer for this time did not serve. A busy machine may be slow, but not for this long. */
const unservedAfterMs = 2_500;
/**
 * A person would reconnect after this time. Earlier attempts would disturb an election, and after the election the
 * broker serves the old connection.
 */
const anewAfterMs = 10_000;
/** The time between two clients that connect, and the time that each has to get a message. */
const connectsEveryMs = 2_000;
const queue = "served";

/** Tells the times when each node of a cluster gave messages to a client. */
export interface ServedTimes {
  readonly vhost: string;
  /** True if the node gave messages to its client at that moment. */
  readonly didServe: (node: number, atMs: number) => boolean;
  /** True if the node gave messages to clients that connected before and after that moment. */
  readonly didServeNew: (node: number, atMs: number) => boolean;
  readonly stop: () => void;
}

/**
 * Runs plain clients at each node. One takes a message of a queue and gives it back, for ever, and reconnects after
 * silence. So if it gets nothing, the broker itself cannot serve that queue through this node. Its leader must move
 * together with those of the examined queues. It speaks AMQP 0-9-1 and never publishes. Alarms do not block such a
 * client, but 4.0 blocks one that speaks AMQP 1.0.
 *
 * Others connect anew, get one message and go. While a queue elects a leader, and for some time after it, the broker may
 * serve a client that it knows and none that comes.
 */
export async function watchServedTimes(cluster: Cluster): Promise<ServedTimes> {
  const [any] = cluster.nodes;
  if (any === undefined) throw new Error("the cluster has no nodes");
  const { vhost, amqpUrl } = await createVhost(any.broker);
  const given = { "x-queue-type": "quorum", "x-delivery-limit": -1 };
  await createManagement(any.broker.managementUrl).declareQueue(vhost, queue, { durable: true, arguments: given });
  const publisher = await connectByAmqp091({ url: amqpUrl, withinMs: 10_000 }, null);
  const channel = await publisher.createConfirmChannel();
  for (let index = 0; index < 30; index++) channel.sendToQueue(queue, Buffer.from("{}"), { persistent: true });
  await channel.waitForConfirms();
  await publisher.close();
  const clients = cluster.nodes.map(({ broker }) =>
    watchNode(Object.assign(new URL(amqpUrl), { host: new URL(broker.amqpUrl).host }).href),
  );
  const comers = cluster.nodes.map(({ broker }) =>
    watchComers(Object.assign(new URL(amqpUrl), { host: new URL(broker.amqpUrl).host }).href),
  );
  return {
    vhost,
    didServeNew: (node, atMs) => {
      const { comes } = comers[node] ?? { comes: [] };
      const next = comes.findIndex(({ begunAtMs }) => begunAtMs > atMs);
      return [comes.at(next === -1 ? -1 : Math.max(0, next - 1)), comes.at(next)].every((come) => come?.isServed);
    },
    didServe: (node, atMs) => {
      const { servedAtMs } = clients[node] ?? { servedAtMs: [] };
      const next = servedAtMs.findIndex((each) => each >= atMs);
      const before = servedAtMs.at(next === -1 ? -1 : Math.max(0, next - 1));
      const after = next === -1 ? Date.now() : servedAtMs[next];
      return before !== undefined && after !== undefined && after - before <= unservedAfterMs;
    },
    stop: () => {
      for (const { stop } of [...clients, ...comers]) stop();
    },
  };
}

function watchNode(url: string): { readonly servedAtMs: readonly number[]; readonly stop: () => void } {
  const servedAtMs: number[] = [];
  let heardAtMs = 0;
  let stopLast = (): void => undefined;
  const timer = setInterval(() => {
    if (Date.now() - heardAtMs <= anewAfterMs) return;
    heardAtMs = Date.now();
    stopLast();
    const heard = (): void => {
      heardAtMs = Date.now();
      servedAtMs.push(heardAtMs);
    };
    const lost = (): void => {
      heardAtMs = 0;
    };
    stopLast = take(url, heard, lost);
  }, everyMs);
  return {
    servedAtMs,
    stop: () => {
      clearInterval(timer);
      stopLast();
    },
  };
}

interface Come {
  readonly begunAtMs: number;
  isServed: boolean;
}

/** Lets one client after the other connect. Each is served if it gets a message in time. */
function watchComers(url: string): { readonly comes: readonly Come[]; readonly stop: () => void } {
  const comes: Come[] = [];
  let stopLast = (): void => undefined;
  const timer = setInterval(() => {
    stopLast();
    const come = { begunAtMs: Date.now(), isServed: false };
    comes.push(come);
    const heard = (): void => {
      come.isServed = true;
    };
    stopLast = take(url, heard, () => undefined);
  }, connectsEveryMs);
  return {
    comes,
    stop: () => {
      clearInterval(timer);
      stopLast();
    },
  };
}

/** @returns a function that ends it at once, without a close */
function take(url: string, heard: () => void, lost: () => void): () => void {
  let isOver = false;
  let connection: ChannelModel | null = null;
  const end = (): void => {
    isOver = true;
    if (connection !== null) destroyConnection(connection);
  };
  const begin = async (): Promise<void> => {
    connection = await connectByAmqp091({ url, withinMs: anewAfterMs }, null);
    connection.on("error", () => undefined);
    connection.on("close", () => {
      if (!isOver) lost();
    });
    if (isOver) end();
    const channel = await connection.createChannel();
    channel.on("error", () => undefined);
    await channel.prefetch(1);
    await channel.consume(queue, (message) => {
      if (message === null || isOver) return;
      heard();
      setTimeout(giveBack, everyMs, channel, message);
    });
  };
  begin().catch(() => {
    if (!isOver) lost();
  });
  return end;
}

function giveBack(channel: Channel, message: ConsumeMessage): void {
  try {
    channel.nack(message, false, true);
  } catch {
    // The channel has closed meanwhile, and the broker has the message back.
  }
}
