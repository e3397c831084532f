import { consume } from "redeliver/consume";
import { expect, onTestFinished, test } from "vitest";

import { deploy, until, type DeployedSystem } from "../support/deployed-system.ts";
import { type Decision, drive } from "../support/drive.ts";
import { checked } from "../support/examples.ts";
import { brokers, type Broker } from "../support/live.ts";
import { speaksAmqp091, strategiesOn, type Strategy } from "../support/strategies.ts";

// Producers send straight to the work queue of `billing`, through the default exchange. `mail` takes from a source. Both
// share the tiers and the ways back of their strategy.

const delayMs = 500;
const exchange = "";
const routingKey = "shop.billing";

/** @param mailNames the names that mail's queues have of their own */
function systemOf(strategy: Strategy, mailNames = {}): object {
  const common = {
    retry: { attempts: 3, backoff: { kind: "constant", delay: `${delayMs}ms` } },
    protocol: speaksAmqp091(strategy) ? "amqp-0-9-1" : "amqp-1.0",
  };
  const mail = { from: { orders: "all" }, ...common, ...mailNames };
  return { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: common, mail } };
}

async function deployed(broker: Broker, strategy: Strategy, declared: object): Promise<DeployedSystem> {
  const system = await deploy(broker, declared, strategy);
  onTestFinished(system.dispose);
  return system;
}

/** Takes this many letters out of a queue, and no more. */
async function lettersIn(system: DeployedSystem, queue: string, count: number): Promise<readonly string[]> {
  const letters: string[] = [];
  await until(60_000, async () => {
    for (const { properties } of await system.drain(queue)) letters.push(String(properties.messageId));
    return letters.length >= count;
  });
  return letters.toSorted();
}

const cases = brokers().flatMap((broker) => strategiesOn(broker.version).map((strategy) => ({ broker, strategy })));

test.for(cases)(
  "messages straight to the work queue are retried as declared: $strategy on $broker.version",
  async ({ broker, strategy }) => {
    const system = await deployed(broker, strategy, systemOf(strategy));
    const fates: Readonly<Record<string, Decision>> = { permanent: "permanent", fine: "success", crashing: "crash" };
    const billing = await drive({
      url: system.url,
      contract: system.contract("billing"),
      decide: ({ id }) => fates[id] ?? "transient",
    });
    onTestFinished(billing.stop);
    const mail = await drive({
      url: system.url,
      contract: system.contract("mail"),
      decide: ({ attempt }) => (attempt === 1 ? "transient" : "success"),
    });
    onTestFinished(mail.stop);

    const { channel } = system;
    // A publisher sets the marks that the broker itself uses on the way. Forged marks must change nothing.
    const forged = {
      "x-last-death-exchange": "shop.again.3",
      "x-last-death-queue": "shop.billing",
      "x-last-death-reason": "rejected",
      "x-first-death-exchange": "shop.again.3",
    };
    for (const id of ["plain", "fine", "permanent", "crashing"])
      channel.publish(exchange, routingKey, Buffer.from("{}"), { messageId: id, persistent: true });
    channel.publish(exchange, routingKey, Buffer.from("{}"), {
      messageId: "forged",
      persistent: true,
      headers: forged,
    });
    channel.publish("shop.orders", "order.placed", Buffer.from("{}"), { messageId: "mailed", persistent: true });
    await channel.waitForConfirms();

    expect(await lettersIn(system, "shop.billing.dead", 4)).toEqual(["crashing", "forged", "permanent", "plain"]);
    await until(60_000, () => mail.seen.length === 2);
    const of = (id: string) => billing.seen.filter((each) => each.id === id);
    for (const id of ["plain", "forged"]) {
      const runs = of(id);
      expect(
        runs.map(({ attempt }) => attempt),
        id,
      ).toEqual([1, 2, 3]);
      for (const [index, { atMs }] of runs.slice(1).entries())
        expect(atMs - (runs[index]?.atMs ?? 0), id).toBeGreaterThanOrEqual(delayMs);
    }
    expect(of("fine").map(({ attempt }) => attempt)).toEqual([1]);
    expect(of("permanent").map(({ attempt }) => attempt)).toEqual([1]);
    expect(of("crashing").length).toBe(system.contract("billing").crashDeliveries ?? 3);
    // No retry reaches the other consumer, in either direction.
    expect(mail.seen.map(({ id, attempt }) => `${id} ${attempt}`)).toEqual(["mailed 1", "mailed 2"]);
    expect(of("mailed")).toEqual([]);
    expect((await channel.checkQueue("shop.mail.dead")).messageCount).toBe(0);
  },
);

test.for(cases)(
  "consume compares what is deployed, and runs, also with names of the user's own: $strategy on $broker.version",
  async ({ broker, strategy }) => {
    const names = { queue: "q-{consumer}", dead: "dlq {queue}", source: "{source}", shared: "r-{system}" };
    const mailNames = { queue: "post", deadLetter: { queue: "lost post" } };
    const declared = checked({ ...systemOf(strategy, mailNames), names });
    const system = await deployed(broker, strategy, declared);
    expect(await system.count("lost post")).toBe(0);
    const target = { broker: "rabbitmq", version: broker.version, strategy } as const;
    for (const connection of [{}, { managementUrl: broker.managementUrl }]) {
      const runs: string[] = [];
      const running = await consume(
        declared,
        "billing",
        { target, connection: { url: system.url, ...connection } },
        (message, { number }) => {
          runs.push(`${message.routingKey} ${number}`);
          throw new Error("the bank is down");
        },
      );
      try {
        await system.publish(["a"], { exchange, routingKey: "q-billing" });
        await system.publish(["b"], { exchange: "orders", routingKey: "order.placed" });
        expect(await lettersIn(system, "dlq q-billing", 1)).toEqual(["a"]);
        expect(runs).toEqual([1, 2, 3].map((number) => `q-billing ${number}`));
        expect(await lettersIn(system, "post", 1)).toEqual(["b"]);
      } finally {
        await running.stop();
      }
    }
  },
);
