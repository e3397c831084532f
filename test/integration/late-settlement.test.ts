import amqplib from "amqplib";
import { describe, test } from "vitest";

import { type Cluster, startCluster } from "../support/broker-cluster.ts";
import { sleep, until } from "../support/deployed-system.ts";
import { brokers, createVhost } from "../support/live.ts";

const work = "work";
const dead = "dead";
const exchange = "dead-letters";
const deadLetterAgainMs = 5_000;

/** With a broker from the environment there may be no Docker to start a cluster. */
const hasContainers = brokers().some((broker) => broker.containerId !== undefined);

/** Stops and starts the Erlang processes of one virtual host's queues, as a busy scheduler or a slow disk would. */
function processesOf({ nodes }: Cluster, vhost: string) {
  const evaluate = async (node: number, expression: string): Promise<string> =>
    (await nodes[node]?.exec(["rabbitmqctl", "eval", expression]))?.trim() ?? "";
  const server = (queue: string): string =>
    `{ok, Queue} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"${vhost}">>, queue, <<"${queue}">>)), {Server, _} = amqqueue:get_pid(Queue)`;
  /** The only queue here that dead-letters is the work queue, so its leader's node has the only worker. */
  const worker = "[Worker] = [Pid || {_, Pid, _, _} <- supervisor:which_children(rabbit_fifo_dlx_sup)]";
  return {
    suspend: (node: number, queue: string) => evaluate(node, `${server(queue)}, sys:suspend(Server).`),
    resume: (node: number, queue: string) => evaluate(node, `${server(queue)}, sys:resume(Server).`),
    // An answer about the state comes after all that reached the process before.
    suspendWorker: (node: number) => evaluate(node, `${worker}, sys:get_state(Worker), sys:suspend(Worker).`),
    resumeWorker: (node: number) => evaluate(node, `${worker}, sys:resume(Worker), sys:get_state(Worker).`),
    /** Makes a node's member of a queue its leader. The leader before it need not answer. */
    elect: async (node: number, queue: string) => {
      await evaluate(node, `${server(queue)}, ra:trigger_election({Server, node()}).`);
      await until(20_000, async () => {
        const leader = await evaluate(node, `${server(queue)}, element(2, ra_leaderboard:lookup_leader(Server)).`);
        return leader.includes(`rabbit@node${node + 1}`);
      });
    },
    /** The dead letters of a queue that have not reached their target, as its leader counts them. */
    onTheirWay: async (node: number, queue: string) =>
      Number(
        await evaluate(
          node,
          `${server(queue)}, {ok, {_, Overview}, _} = ra:local_query({Server, node()}, fun rabbit_fifo:overview/1), maps:get(num_discarded, Overview) + maps:get(num_discard_checked_out, Overview).`,
        ),
      ),
  };
}

const versions = ["4.3", "4.0"] as const;

describe.runIf(hasContainers).concurrent.each(versions)("a cluster of three nodes of %s", (version) => {
  test("a worker's late settlement removes the dead letter that has its number in the next worker's count", async (context) => {
    const { expect } = context;
    const cluster = await startCluster(version, deadLetterAgainMs);
    context.onTestFinished(() => cluster.stop());
    const [first, second] = cluster.nodes.map(({ broker }) => broker);
    if (first === undefined || second === undefined) throw new Error("the cluster has no second node");
    const { vhost, amqpUrl, dispose } = await createVhost(first);
    context.onTestFinished(dispose);
    const connection = await amqplib.connect(amqpUrl);
    const channel = await connection.createConfirmChannel();
    const safe = { "x-queue-type": "quorum", "x-overflow": "reject-publish" };
    await channel.assertExchange(exchange, "direct");
    await channel.assertQueue(dead, { arguments: safe });
    await channel.bindQueue(dead, exchange, work);
    await channel.assertQueue(work, {
      arguments: {
        ...safe,
        "x-dead-letter-exchange": exchange,
        "x-dead-letter-routing-key": work,
        "x-dead-letter-strategy": "at-least-once",
      },
    });
    for (const messageId of ["m0", "m1", "m2"]) channel.sendToQueue(work, Buffer.from("{}"), { messageId });
    await channel.waitForConfirms();
    await cluster.moveLeaders([vhost], 0, 0);
    const processes = processesOf(cluster, vhost);
    const deadLetter = async (by: amqplib.Channel): Promise<void> => {
      const message = await by.get(work);
      if (message === false) throw new Error("the work queue is empty");
      by.nack(message, false, false);
    };
    const countOf = async (queue: string) => (await channel.checkQueue(queue)).messageCount;

    await deadLetter(channel);
    await until(20_000, async () => (await countOf(dead)) === 1);
    // The second dead letter arrives. The worker is too slow to read the confirmation.
    await processes.suspend(0, dead);
    await deadLetter(channel);
    await until(20_000, async () => (await processes.onTheirWay(0, work)) === 1);
    await processes.suspendWorker(0);
    await processes.resume(0, dead);
    await until(20_000, async () => (await countOf(dead)) === 2);
    // The next leader's worker sends it again, and counts from 0.
    await processes.suspend(0, work);
    await processes.elect(1, work);
    await until(20_000, async () => (await countOf(dead)) === 3);
    // The third dead letter finds no route for a while.
    await channel.unbindQueue(dead, exchange, work);
    const other = await amqplib.connect(Object.assign(new URL(amqpUrl), { host: new URL(second.amqpUrl).host }).href);
    await deadLetter(await other.createChannel());
    await until(20_000, async () => (await processes.onTheirWay(1, work)) === 1);
    // The first worker reads its confirmation. Its node's member of the queue forwards the settlement.
    await processes.resumeWorker(0);
    await processes.resume(0, work);
    await until(20_000, async () => (await processes.onTheirWay(1, work)) === 0);
    // The second worker still knows the message, but ends with its leader.
    await cluster.moveLeaders([vhost], 2, 1);
    await channel.bindQueue(dead, exchange, work);
    await sleep(2 * deadLetterAgainMs);
    await other.close();
    const letters: unknown[] = [];
    for (;;) {
      const letter = await channel.get(dead, { noAck: true });
      if (letter === false) break;
      letters.push(letter.properties.messageId);
    }
    expect([letters, await countOf(work)]).toEqual([["m0", "m1", "m1"], 0]);
    await connection.close();
  });
});
