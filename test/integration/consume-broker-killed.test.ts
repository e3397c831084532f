import amqplib from "amqplib";
import type { Channel } from "amqplib";
import { describe, test } from "vitest";
import { permanent } from "redeliver/consume";

import { startBroker, waitUntilReady } from "../support/broker-containers.ts";
import type { BrokerVersion } from "../support/broker-images.ts";
import { docker } from "../support/broker-images.ts";
import type { ConsumedSystem } from "../support/consume/consumed.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import type { DeployedSystem } from "../support/deployed-system.ts";
import { deploy, sleep, until } from "../support/deployed-system.ts";
import type { Broker } from "../support/live.ts";
import { brokers } from "../support/live.ts";

const source = { exchange: "shop.orders", routingKey: "order.placed" };
const declarationFor = (strategy: Strategy): unknown => ({
  name: "shop",
  sources: { orders: { kind: "topic" } },
  consumers: {
    billing: {
      from: { orders: "all" },
      retry: { attempts: 5, backoff: { kind: "constant", delay: "200ms" } },
      ...(strategy === "deferred" ? { protocol: "amqp-1.0" } : {}),
    },
  },
});
type Strategy = NonNullable<Parameters<typeof deploy>[2]>;

/** Every strategy on every version that has it, side by side on one broker, and how many messages each is given. */
const runs: readonly { readonly version: BrokerVersion; readonly messages: Partial<Record<Strategy, number>> }[] = [
  { version: "4.3", messages: { native: 5_000, deferred: 500, staged: 500, waits: 500 } },
  { version: "4.0", messages: { staged: 500, waits: 5_000 } },
  { version: "3.10", messages: { staged: 500, waits: 5_000 } },
];

const concurrency = 50;
/** Dead letters that a quorum queue passes on at least once are on their way this many at a time. Source: `dead_letter_worker_consumer_prefetch`. */
const deadLettersOnTheirWay = 32;
/**
 * What a broker was told a moment ago is on disk only when this is done: Mnesia's log, and the tables in which Ra keeps which queues there are. A
 * broker that is killed before has lost the queue.
 */
const syncTables = ["rabbitmqctl", "eval", "catch mnesia:sync_log(), [catch dets:sync(Table) || Table <- dets:all()]."];
/** A queue may not be there while a broker starts; at-least-once dead-lettering tries again after this time. */
const deadLetterAgainMs = 20_000;
const longestMs = 240_000;

/** How a message ends its attempt, always the same: a fifth never succeeds, a fifth is dead at once, a fifth needs several attempts. */
function fateOf(id: string, attempt: number): "success" | "transient" | "permanent" {
  const number = Number(id.slice(1)) % 5;
  if (number === 1) return "transient";
  if (number === 2) return "permanent";
  return number === 3 && attempt < 3 ? "transient" : "success";
}

interface Deployed {
  readonly strategy: Strategy;
  readonly system: DeployedSystem;
  readonly ids: readonly string[];
}

interface Consuming extends Deployed {
  readonly billing: ConsumedSystem;
}

async function published(broker: Broker, strategy: Strategy, count: number): Promise<Deployed> {
  const system = await deploy(broker, declarationFor(strategy), strategy);
  const ids = Array.from({ length: count }, (_, index) => `m${index}`);
  await system.publish(ids, source);
  // The test's own connection would not survive it.
  await system.disconnect();
  return { strategy, system, ids };
}

/** Before the broker is killed no consumer begins more attempts than half of its messages, so that it is killed in the middle of each. */
async function consuming(broker: Broker, deployed: Deployed, killed: Promise<void>): Promise<Consuming> {
  const { strategy, system, ids } = deployed;
  const options = { concurrency, breaker: false } as const;
  const input = { broker, declaration: declarationFor(strategy), consumer: "billing", strategy, options };
  let begun = 0;
  const billing = await consumeFrom(system, input, async ({ id, attempt }) => {
    begun += 1;
    if (begun > ids.length / 2) await killed;
    await sleep(20 + Math.random() * 60);
    const fate = fateOf(id, attempt);
    if (fate === "transient") throw new Error("again");
    if (fate === "permanent") throw permanent("NEVER");
  });
  return { ...deployed, billing };
}

function succeeded({ events }: ConsumedSystem): readonly string[] {
  return events.flatMap((event) =>
    event.kind === "settled" && event.outcome === "success" ? [String(event.messageId)] : [],
  );
}

/** Waits for each message to end, and for every queue to be empty; gives the ids of the dead letters. */
async function ended({ system, ids, billing }: Consuming): Promise<readonly string[]> {
  const connection = await amqplib.connect(system.url);
  const channel = await connection.createChannel();
  const dead: string[] = [];
  await until(longestMs, async () => {
    for (const letter of await drained(channel, "shop.billing.dead")) dead.push(letter);
    if (new Set([...dead, ...succeeded(billing)]).size < ids.length) return false;
    for (const { name } of system.compiled.topology.queues) {
      if ((await channel.checkQueue(name)).messageCount > 0) return false;
    }
    return billing.running.health().handling === 0;
  });
  await connection.close();
  return dead;
}

async function drained(channel: Channel, queue: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (;;) {
    const letter = await channel.get(queue, { noAck: true });
    if (letter === false) return ids;
    ids.push(String(letter.properties.messageId));
  }
}

/**
 * How many ends a message may have had too many, all together: what was in hand, or was settled without the broker having noted it, which is as much
 * as a consumer may hold, since the broker gives a new message only when it has noted the end of an old one; and the dead letters on their way.
 */
function mostDoubled({ compiled }: DeployedSystem): number {
  const sources = compiled.topology.queues.filter((queue) => queue.arguments["x-overflow"] === "reject-publish");
  return concurrency + deadLettersOnTheirWay * sources.length;
}

/** A broker from the environment is not ours to kill, and there may be no Docker then. */
const isOurs = (version: BrokerVersion): boolean =>
  brokers().some((broker) => broker.version === version && broker.containerId !== undefined);

describe.concurrent.each(runs)("on $version", ({ version, messages }) => {
  const given = Object.entries(messages) as [Strategy, number][];
  const what = given.map(([strategy, count]) => `${strategy} ${count}`).join(", ");

  test.runIf(isOurs(version))(
    `the broker is killed in the middle of the messages and comes back: each ends as it should (${what})`,
    { timeout: longestMs + 120_000 },
    async ({ expect, onTestFinished }) => {
      const { broker, exec, stop } = await startBroker(version, undefined, { deadLetterAgainMs });
      onTestFinished(stop);
      const deployed = await Promise.all(given.map(([strategy, count]) => published(broker, strategy, count)));
      await exec(syncTables);
      const killed = Promise.withResolvers<void>();
      const consumers = await Promise.all(deployed.map((each) => consuming(broker, each, killed.promise)));
      onTestFinished(async () => {
        await Promise.all(consumers.map(({ billing }) => billing.running.stop("1s")));
      });
      await until(longestMs, () => consumers.every(({ billing }) => billing.runs.length >= 150));
      await docker("kill", broker.containerId ?? "");
      const before = consumers.map(({ billing }) => ({
        ended: new Set(succeeded(billing)),
        runs: billing.runs.length,
      }));
      killed.resolve();
      await docker("start", broker.containerId ?? "");
      await waitUntilReady(broker.managementUrl, broker.amqpUrl);

      await Promise.all(
        consumers.map(async (consumer, index) => {
          const { strategy, system, ids, billing } = consumer;
          const dead = await ended(consumer);
          const endedWell = succeeded(billing);
          // A message that was in hand has been delivered once more for nothing, and none of those that succeed is so near to its end.
          const shouldBeDead = ids.filter((id) => fateOf(id, 5) !== "success");
          expect([...new Set(dead)].toSorted(), strategy).toEqual(shouldBeDead.toSorted());
          expect(new Set(endedWell).size, strategy).toBe(ids.length - shouldBeDead.length);
          const again = billing.runs.slice(before[index]?.runs).filter(({ id }) => before[index]?.ended.has(id));
          const doubled = dead.length + endedWell.length - ids.length;
          expect(new Set(again.map(({ id }) => id)).size, strategy).toBeLessThanOrEqual(concurrency);
          expect(doubled, strategy).toBeLessThanOrEqual(mostDoubled(system));
        }),
      );
    },
  );
});
