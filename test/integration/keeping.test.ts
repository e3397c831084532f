import amqplib from "amqplib";
import { describe, expect, onTestFinished, test } from "vitest";

import { startBroker } from "../support/broker-containers.ts";
import { brokerVersions } from "../support/broker-images.ts";
import { deploy, type DeployedSystem, policyOfEachQueue, sleep, until } from "../support/deployed-system.ts";
import { type Decision, drive } from "../support/drive.ts";
import { oneConsumer } from "../support/examples.ts";
import { type Broker, brokers, restartBroker } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { publishesCopies, speaksAmqp091, strategiesOn, withQueues } from "../support/strategies.ts";

const steps = (...delays: string[]): unknown => ({ attempts: delays.length + 1, backoff: { kind: "steps", delays } });

async function deployed(...given: Parameters<typeof deploy>): Promise<DeployedSystem> {
  const system = await deploy(...given);
  onTestFinished(system.dispose);
  return system;
}

async function driven(
  system: DeployedSystem,
  decide: (message: { id: string; attempt: number; runs: number }) => Decision,
) {
  const consumer = await drive({ url: system.url, contract: system.contract("billing"), instances: 4, decide });
  onTestFinished(consumer.stop);
  return consumer;
}

/** These tests ask what happens, not how soon. So it is far more than a busy machine needs. */
const patienceMs = 60_000;

async function untilIn({ channel }: DeployedSystem, queue: string, count = 1): Promise<void> {
  await until(patienceMs, async () => (await channel.checkQueue(queue)).messageCount === count);
}

/** The exchange and routing key to which the contract publishes a first failure. */
function copyOf(contract: ReturnType<DeployedSystem["contract"]>) {
  const transient = contract.outcomes.transient;
  const operations = "byAttempt" in transient ? (transient.byAttempt[0] ?? []) : transient;
  const copy = operations.find((each) => each.operation === "basic.publish");
  if (copy?.operation !== "basic.publish") throw new Error("the contract publishes no copy");
  return copy;
}

describe.each(brokers())("waiting messages on $fullVersion", (broker) => {
  test("a person may view a dead letter and put it back thirty times without deleting it", async () => {
    // No message may become due while it is looked at.
    const system = await deployed(broker, oneConsumer({ retry: steps("1h") }), withQueues(broker.version));
    const queues = system.compiled.topology.queues.flatMap(({ name, role }) => (role === "work" ? [] : [name]));
    for (const queue of queues) {
      await system.publish(["seen"], { exchange: "", routingKey: queue });
      let looks = 0;
      for (; looks < 30; looks++) {
        const message = await system.channel.get(queue, { noAck: false });
        if (message === false) break;
        system.channel.reject(message, true);
        await untilIn(system, queue);
      }
      expect(looks, queue).toBe(30);
    }
  });

  test("a stranger's catch-all policy does not apply to our queues", async () => {
    const system = await deployed(broker, oneConsumer({ retry: steps("100ms") }), withQueues(broker.version));
    const management = createManagement(broker.managementUrl);
    await management.putPolicy(system.vhost, "everything-expires", {
      pattern: ".*",
      "apply-to": "queues",
      priority: 100,
      definition: { "message-ttl": 1, "max-length": 1 },
    });
    await management.declareQueue(system.vhost, "somebody-elses", {
      durable: true,
      auto_delete: false,
      arguments: { "x-queue-type": "quorum" },
    });
    await until(
      10_000,
      async () => (await policyOfEachQueue(broker, system.vhost)).get("somebody-elses") === "everything-expires",
    );
    await system.publish(["a", "b", "c"], { exchange: "", routingKey: "shop.billing.dead" });
    await system.publish(["lost"], { exchange: "", routingKey: "somebody-elses" });
    await until(patienceMs, async () => (await system.drain("somebody-elses")).length === 0);
    await sleep(500);
    expect(await system.drain("shop.billing.dead")).toHaveLength(3);
  });

  test("names with any script and any pattern character work", async () => {
    const name = "größe.*+?()[]^$|\\{} 注文";
    const system = await deployed(
      broker,
      {
        ...oneConsumer(),
        name,
        consumers: {
          "a+b (c)": oneConsumer({ retry: steps("100ms") }).consumers["billing"],
          aab: oneConsumer().consumers["billing"],
        },
      },
      withQueues(broker.version),
    );
    const contract = system.contract("a+b (c)");
    const consumer = await drive({ url: system.url, contract, decide: () => "transient" });
    onTestFinished(consumer.stop);
    await system.publish(["odd"], { exchange: `${name}.orders`, routingKey: "order.placed" });
    await untilIn(system, contract.deadQueue ?? "");
    expect(consumer.seen.map((each) => each.attempt)).toEqual([1, 2]);
  });

  test("an immediate retry comes at once, as often as declared", async () => {
    const strategies = strategiesOn(broker.version).filter(speaksAmqp091);
    for (const strategy of strategies) {
      const retry = { attempts: 3, backoff: { kind: "immediate" } };
      const system = await deployed(broker, oneConsumer({ retry }), strategy);
      const consumer = await driven(system, () => "transient");
      await system.publish(["at-once"]);
      await until(2_000, async () => (await system.channel.checkQueue("shop.billing.dead")).messageCount === 1);
      expect(
        consumer.seen.map((each) => each.attempt),
        strategy,
      ).toEqual([1, 2, 3]);
    }
  });

  test("a message that expires in the work queue by its own time to live is a dead letter", async () => {
    const system = await deployed(broker, oneConsumer({ retry: steps("100ms", "100ms") }), withQueues(broker.version));
    system.channel.publish("shop.orders", "order.placed", Buffer.from("late"), { messageId: "late", expiration: "50" });
    await untilIn(system, "shop.billing.dead");
    const [letter] = await system.drain("shop.billing.dead");
    expect(letter?.properties.headers?.["x-death"]).toMatchObject([{ queue: "shop.billing", reason: "expired" }]);
  });

  test("a message's own time to live neither deletes its dead letter nor shortens its wait", async () => {
    const system = await deployed(broker, oneConsumer({ retry: steps("800ms") }), "waits");
    const consumer = await driven(system, ({ id, attempt }) =>
      id === "permanent" ? "permanent" : attempt === 1 ? "transient" : "success",
    );
    for (const id of ["permanent", "waiting"]) {
      system.channel.publish("shop.orders", "order.placed", Buffer.from(id), { messageId: id, expiration: "400" });
    }
    await until(patienceMs, () => consumer.seen.length === 3);
    const [first, second] = consumer.seen.filter((each) => each.id === "waiting");
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(799);
    expect((await system.drain("shop.billing.dead")).map((each) => each.properties.messageId)).toEqual(["permanent"]);
  });

  test.for(strategiesOn(broker.version).filter(publishesCopies))(
    "headers that a publisher forges change neither its attempts nor its consumer under %s",
    async (strategy) => {
      const { billing } = oneConsumer({ retry: steps("100ms", "100ms") }).consumers;
      const shipping = { ...billing, from: { orders: ["order.shipped"] } };
      const system = await deployed(broker, oneConsumer({}, { consumers: { billing, shipping } }), strategy);
      const consumer = await driven(system, () => "transient");
      const death = { exchange: "shop.orders", count: 9, "routing-keys": ["order.shipped"] };
      system.channel.publish("shop.orders", "order.placed", Buffer.from("forged"), {
        messageId: "forged",
        headers: {
          "x-last-death-exchange": "shop.again.3",
          "x-last-death-reason": "delivery_limit",
          "x-last-death-queue": "shop.shipping",
          "x-first-death-exchange": "shop.again.3",
          "x-first-death-reason": "delivery_limit",
          "x-first-death-queue": "shop.shipping",
          // A rejection among them would switch the cycle rule off.
          "x-death": system.compiled.topology.queues.flatMap(({ name: queue }) =>
            ["expired", "delivery_limit"].map((reason) => ({ ...death, queue, reason })),
          ),
          "redeliver-attempt": 3,
        },
      });
      await untilIn(system, "shop.billing.dead");
      expect(consumer.seen.map((each) => each.attempt)).toEqual([1, 2, 3]);
      for (const queue of ["shop.shipping", "shop.shipping.dead"]) expect(await system.count(queue), queue).toBe(0);
    },
  );

  test("a forged death in the dead queue keeps a message out of it where the broker believes publishers", async () => {
    const believes = broker.version === "3.10";
    const declaration = oneConsumer({ retry: steps("100ms"), crash: { deliveries: 2 } });
    const system = await deployed(broker, declaration, withQueues(broker.version));
    await driven(system, () => "crash");
    const death = { queue: "shop.billing.dead", reason: "expired", exchange: "", count: 1, "routing-keys": ["a"] };
    const forged = { messageId: "forged", headers: { "x-death": [death] } };
    system.channel.publish("shop.orders", "order.placed", Buffer.from("forged"), forged);
    await system.publish(["honest"]);
    const { queue } = createManagement(broker.managementUrl);
    const held = async (): Promise<unknown> => (await queue(system.vhost, "shop.billing")).messages_dlx;
    await until(patienceMs, async () => (await held()) === (believes ? 1 : 0));
    await untilIn(system, "shop.billing.dead", believes ? 1 : 2);
    const letters = await system.drain("shop.billing.dead");
    expect(letters.map(({ properties }) => properties.messageId as string).toSorted()).toEqual(
      believes ? ["honest"] : ["forged", "honest"],
    );
  });

  test("a message that died in another system before has all of its attempts", async () => {
    const system = await deployed(broker, oneConsumer({ retry: steps("100ms", "100ms") }), withQueues(broker.version));
    await system.channel.assertQueue("elsewhere", {
      durable: true,
      arguments: {
        "x-queue-type": "quorum",
        "x-message-ttl": 50,
        "x-dead-letter-exchange": "shop.orders",
        "x-dead-letter-routing-key": "order.placed",
      },
    });
    const consumer = await driven(system, () => "transient");
    await system.publish(["travelled"], { exchange: "", routingKey: "elsewhere" });
    await untilIn(system, "shop.billing.dead");
    expect(consumer.seen.map((each) => each.attempt)).toEqual([1, 2, 3]);
  });
});

describe.each(brokers())("waits on $fullVersion", (broker) => {
  test("a crash between the copy and the acknowledgement doubles the message and never loses it", async () => {
    const system = await deployed(broker, oneConsumer({ retry: steps("200ms"), crash: { deliveries: 3 } }), "waits");
    const consumer = await driven(system, ({ runs }) => (runs === 0 ? { crashAfter: 1, of: "transient" } : "success"));
    await system.publish(["doubled"]);
    await until(patienceMs, () => consumer.seen.length === 3);
    await sleep(500);
    expect(consumer.seen.map((each) => each.attempt).toSorted()).toEqual([1, 1, 2]);
  });

  test("with jitter no attempt is early, and none later than its bound", async () => {
    const backoff = { kind: "constant", delay: "300ms", jitter: "100%" };
    const system = await deployed(broker, oneConsumer({ retry: { attempts: 3, backoff } }), "waits");
    const consumer = await driven(system, () => "transient");
    const ids = Array.from({ length: 60 }, (_, index) => `j${index}`);
    await system.publish(ids);
    await untilIn(system, "shop.billing.dead", 60);
    const gaps = ids.flatMap((id) => {
      const seen = consumer.seen.filter((each) => each.id === id);
      expect(
        seen.map((each) => each.attempt),
        id,
      ).toEqual([1, 2, 3]);
      return seen.slice(1).map((each, index) => each.atMs - (seen[index]?.atMs ?? 0));
    });
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(299);
    // A gap is never the sum of the delays of the messages ahead. The slack is for a busy machine.
    expect(Math.max(...gaps)).toBeLessThan(600 + 5_000);
  });

  test("a copy is due before its queue's time is over, unless a longer one is ahead of it", async () => {
    const backoff = { kind: "constant", delay: "10m", jitter: "100%" };
    const system = await deployed(broker, oneConsumer({ retry: { attempts: 2, backoff } }), "waits");
    const consumer = await driven(system, () => "success");
    const { exchange, routingKey } = copyOf(system.contract("billing"));
    const atMs = Date.now();
    for (const [messageId, expiration] of [
      ["longer", "3000"],
      ["behind", "100"],
    ] as const) {
      system.channel.publish(exchange, routingKey, Buffer.from(messageId), { messageId, expiration });
    }
    await until(patienceMs, () => consumer.seen.length === 2);
    // Both become due together, and any of the four instances may report first.
    expect(consumer.seen.map((each) => each.id).toSorted()).toEqual(["behind", "longer"]);
    for (const each of consumer.seen) expect(each.atMs - atMs, each.id).toBeGreaterThanOrEqual(2_999);
  });

  test("a delay from the handler is kept, and counts as an attempt", async () => {
    const retry = { attempts: 3, backoff: { kind: "constant", delay: "100ms" }, retryAfter: { max: "4s" } };
    const system = await deployed(broker, oneConsumer({ retry }), "waits");
    const consumer = await driven(system, ({ attempt }) => (attempt === 1 ? { askMs: 1_500 } : "transient"));
    await system.publish(["asked"]);
    await untilIn(system, "shop.billing.dead");
    expect(consumer.seen.map((each) => each.attempt)).toEqual([1, 2, 3]);
    const [first, second] = consumer.seen;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1_499);
  });

  test("waiting messages of a consumer that is gone block no other consumer", async () => {
    const system = await deployed(broker, oneConsumer({ retry: steps("200ms") }), "waits");
    const consumer = await driven(system, ({ runs }) => (runs === 0 ? "transient" : "success"));
    const ids = Array.from({ length: 40 }, (_, index) => `gone${index}`);
    await system.publish(ids, { exchange: "shop.wait.200ms", routingKey: "redeliver:shop.gone:attempt:2" });
    await system.publish(["present"]);
    await until(patienceMs, () => consumer.seen.length === 2);
    await untilIn(system, "shop.undeliverable", 40);
  });

  test("the publisher's routing key is in the header from the second attempt on", async () => {
    const system = await deployed(broker, oneConsumer({ retry: steps("100ms", "100ms") }), "waits");
    const consumer = await driven(system, () => "transient");
    await system.publish(["keyed"]);
    await untilIn(system, "shop.billing.dead");
    const [letter] = await system.drain("shop.billing.dead");
    expect(letter?.properties.headers?.["redeliver-original-routing-key"]).toBe("order.placed");
    expect(consumer.seen.map((each) => each.routingKey)).toEqual([
      "order.placed",
      "redeliver:shop.billing:attempt:2",
      "redeliver:shop.billing:attempt:3",
    ]);
  });
});

test.for(brokers())("on $fullVersion the publisher's routing key stays where the contract says", async (broker) => {
  const system = await deployed(broker, oneConsumer({ retry: steps("100ms", "100ms") }), withQueues(broker.version));
  const consumer = await driven(system, ({ runs }) => (runs < 2 ? "transient" : "permanent"));
  await system.publish(["keyed"]);
  await untilIn(system, "shop.billing.dead");
  const [letter] = await system.drain("shop.billing.dead");
  const headers = letter?.properties.headers ?? {};
  const where = system.contract("billing").attemptNumber;
  if (where === null || where.from === "header") throw new Error("the queue itself delays");
  if ("header" in where.originalRoutingKey) {
    expect(headers[where.originalRoutingKey.header]).toBe("order.placed");
  } else {
    expect(headers["x-death"]).toContainEqual(
      expect.objectContaining({ ...where.originalRoutingKey.death, "routing-keys": ["order.placed"] }),
    );
  }
  expect(consumer.seen).toHaveLength(3);
});

test.for(brokers().filter((broker) => broker.version === "4.3"))(
  "deferred on $fullVersion keeps a delay from the handler",
  async (broker) => {
    const retry = { attempts: 3, backoff: { kind: "constant", delay: "100ms" }, retryAfter: { max: "4s" } };
    const system = await deployed(broker, oneConsumer({ retry, protocol: "amqp-1.0" }), "deferred");
    const consumer = await driven(system, ({ attempt }) => (attempt === 1 ? { askMs: 1_500 } : "transient"));
    await system.publish(["asked"]);
    await untilIn(system, "shop.billing.dead");
    expect(consumer.seen.map((each) => each.attempt)).toEqual([1, 2, 3]);
    const [first, second] = consumer.seen;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1_499);
  },
);

// A restart cuts every connection, so these tests start their own brokers. They may not restart one from the
// environment.
const restartable = brokers().some((broker) => broker.containerId === undefined) ? [] : brokerVersions;

test.for(restartable)("on %s dead letters and waiting messages survive a restart of the broker", async (version) => {
  const started = await startBroker(version);
  onTestFinished(started.stop);
  const broker: Broker = started.broker;
  const restarted: { strategy: string; vhost: DeployedSystem; failedAtMs: number }[] = [];
  const strategies = strategiesOn(version).filter(speaksAmqp091);
  for (const strategy of strategies) {
    const vhost = await deploy(
      broker,
      oneConsumer({ retry: { attempts: 2, backoff: { kind: "constant", delay: "12s" } } }),
      strategy,
    );
    const consumer = await drive({ url: vhost.url, contract: vhost.contract("billing"), decide: () => "transient" });
    await vhost.publish(["waiting"]);
    await vhost.publish(["dead"], { exchange: "", routingKey: "shop.billing.dead" });
    await until(patienceMs, () => consumer.seen.length === 1);
    await sleep(500);
    await consumer.stop();
    await vhost.disconnect();
    restarted.push({ strategy, vhost, failedAtMs: consumer.seen[0]?.atMs ?? 0 });
  }
  await restartBroker(broker);
  for (const { strategy, vhost, failedAtMs } of restarted) {
    const connection = await amqplib.connect(vhost.url);
    const channel = await connection.createChannel();
    const letter = await channel.get("shop.billing.dead", { noAck: true });
    expect(letter !== false && letter.properties.messageId, strategy).toBe("dead");
    await connection.close();
    const again = await drive({ url: vhost.url, contract: vhost.contract("billing"), decide: () => "success" });
    await until(40_000, () => again.seen.length === 1);
    expect(again.seen[0], strategy).toMatchObject({ id: "waiting", attempt: 2 });
    expect((again.seen[0]?.atMs ?? 0) - failedAtMs, strategy).toBeGreaterThanOrEqual(11_999);
    await again.stop();
  }
});
