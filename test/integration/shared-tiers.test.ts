import amqplib from "amqplib";
import { expect, onTestFinished, test } from "vitest";

import { brokers as compilers, compile } from "../../src/index.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { drive, type DrivenConsumer } from "../support/drive.ts";
import { brokers } from "../support/live.ts";
import { createManagement, type JsonObject } from "../support/management.ts";
import { accepted, checked } from "../support/examples.ts";
import { strategiesOn, withQueues } from "../support/strategies.ts";

// Under `staged` and `waits` consumers share the queues where messages wait. No message may come to another consumer,
// and none may have other attempts than its own.

const withStaged = brokers().filter(({ version }) => strategiesOn(version).includes("staged"));

function systemOf(names: readonly string[], delays: readonly string[]): unknown {
  const consumer = {
    from: { orders: "all" },
    retry: { attempts: delays.length + 1, backoff: { kind: "steps", delays } },
  };
  return {
    name: "shop",
    sources: { orders: { kind: "fanout" } },
    consumers: Object.fromEntries(names.map((name) => [name, consumer])),
  };
}

test.for(brokers())(
  "on $fullVersion 300 consumers share the queues where messages wait, all fail at once, and each message makes its own attempts",
  { timeout: 900_000 },
  async (broker) => {
    const names = Array.from({ length: 300 }, (_, index) => `c${index}`);
    const ids = ["a", "b", "c"];
    const system = await deploy(broker, systemOf(names, ["2s", "3s"]), withQueues(broker.version));
    onTestFinished(system.dispose);
    expect(system.compiled.topology.queues.filter(({ consumer }) => consumer === null)).toHaveLength(3);
    const { url } = system;
    const connection = await amqplib.connect(url);
    onTestFinished(() => connection.close());
    const drivers = new Map<string, DrivenConsumer>();
    for (const name of names)
      drivers.set(name, await drive({ url, connection, contract: system.contract(name), decide: () => "transient" }));
    await system.publish(ids);
    await until(300_000, () => [...drivers.values()].every(({ seen }) => seen.length >= 3 * ids.length));
    for (const [name, { seen }] of drivers) {
      const attempts = Map.groupBy(seen, ({ id }) => id);
      expect([...attempts.keys()].toSorted(), name).toEqual(ids);
      for (const each of attempts.values())
        expect(
          each.map(({ attempt }) => attempt),
          name,
        ).toEqual([1, 2, 3]);
      const letters: unknown[] = [];
      await until(60_000, async () => {
        for (const { properties } of await system.drain(`shop.${name}.dead`)) letters.push(properties.messageId);
        return letters.length === ids.length;
      });
      expect(letters.toSorted(), name).toEqual(ids);
    }
    expect(await system.drain("shop.undeliverable")).toEqual([]);
  },
);

test.for(withStaged)(
  "on $fullVersion a new schedule takes effect while messages wait by the old one: none lost, doubled, or with another number of attempts",
  { timeout: 900_000 },
  async (broker) => {
    const before = systemOf(["billing", "mail"], ["500ms", "1s"]);
    const after = systemOf(["billing", "mail"], ["700ms", "2s"]);
    const system = await deploy(broker, before, "staged");
    onTestFinished(system.dispose);
    const management = createManagement(broker.managementUrl);
    const ids = Array.from({ length: 400 }, (_, index) => `m${index}`);
    const drivers = [];
    for (const name of ["billing", "mail"]) {
      const contract = system.contract(name);
      const driver = await drive({ url: system.url, contract, decide: () => "transient" });
      onTestFinished(driver.stop);
      drivers.push(driver);
    }
    const publishing = (async () => {
      for (const id of ids) await system.publish([id]);
    })();
    const compiled = accepted(
      compile(checked(after), { broker: "rabbitmq", version: broker.version, strategy: "staged" }),
    );
    const definitions = compilers.rabbitmq.exportFormats["definitions"]?.(compiled, system.vhost) as JsonObject;
    const policies = definitions["policies"] as readonly JsonObject[];
    // The ways to the new tiers come last, as in a deployment.
    const ofQueues = policies.filter((policy) => policy["apply-to"] !== "exchanges");
    await management.importDefinitions({ ...definitions, policies: ofQueues });
    await management.importDefinitions(definitions);
    await publishing;
    // From now on failed messages wait by the new schedule.
    await system.publish(["later"]);
    const all = [...ids, "later"];
    for (const driver of drivers) {
      await until(120_000, () => driver.seen.length >= 3 * all.length);
      const byId = Map.groupBy(driver.seen, ({ id }) => id);
      for (const id of all)
        expect(
          byId.get(id)?.map(({ attempt }) => attempt),
          id,
        ).toEqual([1, 2, 3]);
    }
    for (const name of ["billing", "mail"]) {
      const letters = new Map<unknown, string>();
      let count = 0;
      await until(60_000, async () => {
        for (const { properties } of await system.drain(`shop.${name}.dead`)) {
          count += 1;
          letters.set(properties.messageId, JSON.stringify(properties.headers?.["x-death"]));
        }
        return count === all.length;
      });
      expect([...letters.keys()].map(String).toSorted()).toEqual(all.toSorted());
      for (const tier of ["shop.attempt.2.700ms", "shop.attempt.3.2s"])
        expect(letters.get("later")).toContain(`"${tier}"`);
    }
    expect(await system.drain("shop.undeliverable")).toEqual([]);
  },
);
