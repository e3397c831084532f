import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { consume } from "redeliver/consume";
import { expect, onTestFinished, test } from "vitest";

import { run } from "../../src/cli/run.ts";
import { parseText } from "../../src/declare/parse.ts";
import { startBroker } from "../support/broker-containers.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { drive } from "../support/drive.ts";
import { checked } from "../support/examples.ts";
import { createManagement } from "../support/management.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// An exchange of a plugin, which another team made. The plugin alone decides which consumer gets a message.

const retry = { attempts: 2, backoff: { kind: "constant", delay: "200ms" } };
const source = { kind: "opaque", exchangeType: "x-consistent-hash", name: "events", owner: "other" };
const declared = (exchangeType = source.exchangeType) => ({
  name: "shop",
  sources: { events: { ...source, exchangeType } },
  consumers: { first: { from: { events: ["10"] }, retry }, second: { from: { events: ["20"] }, retry } },
});
const consumers = ["first", "second"] as const;

test("each message reaches one consumer, and only that one retries it", { timeout: 240_000 }, async () => {
  const { broker, stop } = await startBroker("4.3", undefined, { plugins: ["rabbitmq_consistent_hash_exchange"] });
  onTestFinished(stop);
  const management = createManagement(broker.managementUrl);
  const made = { type: source.exchangeType, durable: true, auto_delete: false, arguments: {} };
  const system = await deploy(broker, declared(), "native", async (vhost) =>
    management.declareExchange(vhost, "events", made),
  );
  onTestFinished(system.dispose);
  const target = { broker: "rabbitmq", version: "4.3", strategy: "native" } as const;
  for (const more of [{}, { managementUrl: broker.managementUrl }]) {
    const connection = { url: system.url, ...more };
    await (await consume(checked(declared()), "first", { target, connection }, () => {})).stop();
    const other = consume(checked(declared("x-random")), "first", { target, connection }, () => {});
    await expect(other).rejects.toThrow(/x-random|exchange type/);
  }

  const folder = temporaryFolder("opaque", onTestFinished);
  const [file, adopted] = [join(folder, "shop.json"), join(folder, "adopted.yaml")];
  const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(system.vhost)}`;
  const differs = async (declaration: object): Promise<number> => {
    writeFileSync(file, JSON.stringify(declaration));
    return run(["diff", file, "--target", "rabbitmq@4.3", "--strategy", "native", "--url", url]);
  };
  expect([await differs(declared()), await differs(declared("x-random"))]).toEqual([0, 1]);
  expect(await run(["adopt", "--url", url, "--output", adopted])).toBe(0);
  const parsed = parseText(readFileSync(adopted, "utf8"), "yaml");
  expect(parsed).toMatchObject({ ok: true, value: { name: "shop", sources: { events: source } } });

  const ids = Array.from({ length: 60 }, (_, index) => `message ${index}`);
  for (const messageId of ids)
    system.channel.publish("events", messageId, Buffer.from("{}"), { messageId, persistent: true });
  await system.channel.waitForConfirms();
  const drivers = await Promise.all(
    consumers.map(async (name) =>
      drive({ url: system.url, contract: system.contract(name), decide: () => "transient" }),
    ),
  );
  for (const { stop: end } of drivers) onTestFinished(end);
  const letters: string[] = [];
  await until(60_000, async () => {
    for (const name of consumers)
      for (const { properties } of await system.drain(`shop.${name}.dead`)) letters.push(String(properties.messageId));
    return letters.length >= ids.length;
  });
  expect(letters.toSorted()).toEqual(ids.toSorted());
  for (const { seen } of drivers) {
    expect(seen.length).toBeGreaterThan(0);
    const own = new Set(seen.map(({ id }) => id));
    for (const id of own) expect(seen.filter((each) => each.id === id).map(({ attempt }) => attempt)).toEqual([1, 2]);
  }
  expect(drivers.reduce((sum, { seen }) => sum + seen.length, 0)).toBe(2 * ids.length);
});
