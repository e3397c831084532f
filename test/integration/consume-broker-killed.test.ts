import amqplib from "amqplib";
import { expect, onTestFinished, test } from "vitest";
import { permanent } from "redeliver/consume";

import { startBroker, waitUntilReady } from "../support/broker-containers.ts";
import { docker } from "../support/broker-images.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { deploy, sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

const source = { exchange: "shop.orders", routingKey: "order.placed" };
const declaration = {
  name: "shop",
  sources: { orders: { kind: "topic" } },
  consumers: {
    billing: { from: { orders: "all" }, retry: { attempts: 4, backoff: { kind: "constant", delay: "200ms" } } },
  },
};
/** What Ra knows of a queue that was made a moment ago is on disk only when this is done; a broker killed before has lost the queue. */
const syncTables = ["rabbitmqctl", "eval", "[catch dets:sync(Table) || Table <- dets:all()]."];
/** At-least-once dead-lettering tries again 180 s after a target that was not there, which a queue may be while a broker starts. */
const longestMs = 260_000;

/** How a message ends its attempt, always the same: a fifth never succeeds, a fifth is dead at once, a fifth needs several attempts. */
function fateOf(id: string, attempt: number): "success" | "transient" | "permanent" {
  const number = Number(id.slice(1)) % 5;
  if (number === 1) return "transient";
  if (number === 2) return "permanent";
  return number === 3 && attempt < 3 ? "transient" : "success";
}

/** A broker from the environment is not ours to kill, and there may be no Docker then. */
const isOurs = brokers().some((broker) => broker.version === "4.3" && broker.containerId !== undefined);

test.runIf(isOurs)(
  "a broker that is killed among 5,000 messages and comes back: each ends as it should, and what had ended does not run again",
  { timeout: longestMs + 120_000 },
  async () => {
    const { broker, exec, stop } = await startBroker("4.3");
    onTestFinished(stop);
    const system = await deploy(broker, declaration, "native");
    const ids = Array.from({ length: 5_000 }, (_, index) => `m${index}`);
    await system.publish(ids, source);
    await exec(syncTables);
    // The test's own connection would not survive it.
    await system.disconnect();
    const billing = await consumeFrom(
      system,
      { broker, declaration, consumer: "billing", strategy: "native", options: { concurrency: 50, breaker: false } },
      async ({ id, attempt }) => {
        await sleep(20 + Math.random() * 60);
        const fate = fateOf(id, attempt);
        if (fate === "transient") throw new Error("again");
        if (fate === "permanent") throw permanent("NEVER");
      },
    );
    onTestFinished(() => billing.running.stop("1s"));
    const succeeded = (): readonly string[] =>
      billing.events.flatMap((event) =>
        event.kind === "settled" && event.outcome === "success" ? [String(event.messageId)] : [],
      );
    await until(60_000, () => succeeded().length >= 300);
    const endedBefore = new Set(succeeded());
    // Long enough for their acknowledgements to be on the broker's disk.
    await sleep(1_000);
    const runsBefore = billing.runs.length;
    await docker("kill", broker.containerId ?? "");
    await docker("start", broker.containerId ?? "");
    await waitUntilReady(broker.managementUrl, broker.amqpUrl);
    await until(60_000, () => billing.events.some((event) => event.kind === "reconnected"));

    const connection = await amqplib.connect(system.url);
    onTestFinished(() => connection.close());
    const channel = await connection.createChannel();
    const dead: string[] = [];
    await until(longestMs, async () => {
      for (;;) {
        const letter = await channel.get("shop.billing.dead", { noAck: true });
        if (letter === false) break;
        dead.push(String(letter.properties.messageId));
      }
      return (
        new Set([...dead, ...succeeded()]).size === ids.length &&
        (await channel.checkQueue("shop.billing")).messageCount === 0
      );
    });
    const expectedDead = ids.filter((id) => fateOf(id, 4) !== "success");
    // A crash of the broker counts as a failed delivery of what was in hand, so some of the others may have died as well.
    expect(expectedDead.filter((id) => !dead.includes(id))).toEqual([]);
    const runAgain = billing.runs.slice(runsBefore).filter((run) => endedBefore.has(run.id));
    expect(runAgain).toEqual([]);
    const doubled = succeeded().length - new Set(succeeded()).size + dead.length - new Set(dead).size;
    // Only what was in hand, or had just been settled, when the broker went.
    expect(doubled).toBeLessThan(ids.length / 10);
  },
);
