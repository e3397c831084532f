import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import type { ConsumeOptions } from "../../src/consume/options.ts";
import { brokers as compilers, compile } from "../../src/index.ts";
import { deploy, until, type DeployedSystem } from "../support/deployed-system.ts";
import { drive } from "../support/drive.ts";
import { checked } from "../support/examples.ts";
import { brokers, type Broker } from "../support/live.ts";
import { createManagement, type JsonObject } from "../support/management.ts";
import { oneForEachProtocol, speaksAmqp091, strategiesOn, type Strategy } from "../support/strategies.ts";
import { start } from "../support/consume/start.ts";
import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Another team made the exchange, with settings of its own and a queue of its own on it. Two systems consume it without
// knowing of each other.

const exchange = "events.orders";
const made = { type: "topic", durable: true, auto_delete: false, arguments: { "alternate-exchange": "events.rest" } };

function systemOf(name: string, strategy: Strategy, kind = "topic", given?: object): object {
  const retry = { attempts: 3, backoff: { kind: "constant", delay: "200ms" } };
  return {
    name,
    sources: { orders: { kind, name: exchange, owner: "other", ...(given && { arguments: given }) } },
    consumers: {
      billing: {
        from: { orders: ["order.placed"] },
        retry,
        protocol: speaksAmqp091(strategy) ? "amqp-0-9-1" : "amqp-1.0",
      },
    },
  };
}

async function deployed(broker: Broker, strategy: Strategy, kind?: string, note = {}): Promise<DeployedSystem> {
  const management = createManagement(broker.managementUrl);
  const system = await deploy(broker, systemOf("shop", strategy), strategy, async (vhost) => {
    const given = { ...made.arguments, ...note };
    await management.declareExchange(vhost, exchange, { ...made, arguments: given, ...(kind && { type: kind }) });
    await management.declareQueue(vhost, "theirs", { durable: true, arguments: { "x-queue-type": "quorum" } });
    await management.bind(vhost, {
      source: exchange,
      destination: "theirs",
      destinationType: "queue",
      routingKey: "order.placed",
    });
  });
  onTestFinished(system.dispose);
  return system;
}

const cases = brokers().flatMap((broker) => strategiesOn(broker.version).map((strategy) => ({ broker, strategy })));

test.for(cases)(
  "two systems on one exchange of another team: $strategy on $broker.version",
  async ({ broker, strategy }) => {
    const shop = await deployed(broker, strategy);
    const { vhost, url, channel } = shop;
    const management = createManagement(broker.managementUrl);
    const store = compile(checked(systemOf("store", strategy)), {
      broker: "rabbitmq",
      version: broker.version,
      strategy,
    });
    if (!store.ok) throw new Error("it does not compile");
    await management.importDefinitions(
      compilers.rabbitmq.exportFormats["definitions"]?.(store.value, vhost) as JsonObject,
    );
    const read = async (): Promise<unknown> => {
      const {
        name,
        type,
        arguments: given,
      } = await management.get<JsonObject>(`exchanges/${encodeURIComponent(vhost)}/${exchange}`);
      return { name, type, given };
    };
    expect(await read()).toEqual({ name: exchange, type: made.type, given: made.arguments });

    const contracts = [shop.contract("billing"), store.value.contracts[0]];
    const drivers = [];
    for (const contract of contracts) {
      if (contract === undefined) throw new Error("no contract");
      const driver = await drive({ url, contract, decide: () => "transient" });
      onTestFinished(driver.stop);
      drivers.push(driver);
    }
    const ids = ["a", "b", "c"];
    await shop.publish(ids, { exchange, routingKey: "order.placed" });
    for (const { seen } of drivers) {
      await until(60_000, () => seen.length >= 9);
      for (const id of ids)
        expect(seen.filter((each) => each.id === id).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    }
    for (const name of ["shop", "store"]) {
      const letters: unknown[] = [];
      await until(30_000, async () => {
        for (const { properties } of await shop.drain(`${name}.billing.dead`)) letters.push(properties.messageId);
        return letters.length === ids.length;
      });
      expect(letters.toSorted(), name).toEqual(ids);
    }
    expect((await channel.checkQueue("theirs")).messageCount).toBe(ids.length);
    expect(await read()).toEqual({ name: exchange, type: made.type, given: made.arguments });
  },
);

async function codesOf(
  system: DeployedSystem,
  connection: Partial<ConsumeOptions<"rabbitmq">["connection"]>,
): Promise<{ readonly codes: readonly string[]; readonly text: string }> {
  const options = { connection: { url: system.url, ...connection } };
  const { codes, text } = await start(system, options);
  return { codes, text };
}

test.for(brokers())("a consumer compares the exchange of another team: $version", async (broker) => {
  const ways = [{}, { managementUrl: broker.managementUrl }];
  const strategy: Strategy = "waits";
  const fine = await deployed(broker, strategy);
  const other = await deployed(broker, strategy, "fanout");
  for (const connection of ways) {
    expect(await codesOf(fine, connection)).toEqual({ codes: [], text: "" });
    const differs = await codesOf(other, connection);
    expect(differs.codes).toEqual(["RD808"]);
    expect(differs.text).toMatch(/its kind or its durability differs .* for events\.orders/);
    expect(differs.text).toMatch(/type: compiled is .*topic.*, deployed is .*fanout/);
  }
  await fine.channel.deleteExchange(exchange);
  for (const connection of ways) {
    const missing = await codesOf(fine, connection);
    expect(missing.codes[0]).toBe("RD805");
    expect(missing.text).toContain(`there is no exchange ${exchange} in this virtual host`);
  }
});

const kinds = brokers().flatMap((broker) =>
  oneForEachProtocol(broker.version).map((strategy) => ({ broker, strategy })),
);

test.for(kinds)("a consumer compares the arguments: $strategy on $broker.version", async ({ broker, strategy }) => {
  const system = await deployed(broker, strategy, undefined, { "x-note": 5, "x-text": "5" });
  const look = async (given: object, managementUrl?: string) => {
    const declaration = systemOf("shop", strategy, "topic", given);
    const { codes, text, events } = await start(
      { ...system, declaration },
      { connection: { url: system.url, managementUrl } },
    );
    const passed = events.flatMap((event) => (event.kind === "not-compared" ? [event.what] : [])).join(", ");
    return { codes, text, passed };
  };
  const alternate = "alternate-exchange";
  const right = { [alternate]: "events.rest", "x-note": 5 };
  expect(await look(right, broker.managementUrl)).toEqual({ codes: [], text: "", passed: "" });
  for (const [wrong, both] of [
    [{ [alternate]: "unrouted" }, /alternate-exchange: compiled is "unrouted", deployed is "events\.rest"/],
    [{ "x-note": 6 }, /x-note: compiled is 6, deployed is 5/],
    [{ "x-text": 5 }, /x-text: compiled is 5, deployed is "5"/],
    [{ "x-none": true }, /x-none: compiled is true, deployed is nothing/],
  ] as const) {
    const { codes, text } = await look({ ...right, ...wrong }, broker.managementUrl);
    expect(codes).toEqual(["RD808"]);
    expect(text).toMatch(both);
    expect(text).toMatch(/one of its arguments differs .* for events\.orders/);
  }

  // Without the management API, the broker compares only the alternate exchange. AMQP 1.0 shows no exchange at all.
  const seen = speaksAmqp091(strategy);
  const alone = await look(right);
  expect(alone).toMatchObject({ codes: [], text: "" });
  expect(alone.passed).toContain(seen ? "the argument x-note of events.orders" : "exchanges");
  expect(alone.passed).not.toContain(alternate);
  expect((await look({ "x-note": 6 })).passed).toContain(seen ? "the argument x-note of events.orders" : "exchanges");
  const other = await look({ [alternate]: "unrouted" });
  expect(other.codes).toEqual(seen ? ["RD808"] : []);
  if (seen) expect(other.text).toMatch(/alternate-exchange: compiled is .*unrouted.*, deployed is .*events\.rest/);

  const folder = temporaryFolder("arguments", onTestFinished);
  const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(system.vhost)}`;
  const compared = async (given: object) => {
    const file = join(folder, "shop.json");
    writeFileSync(file, JSON.stringify(systemOf("shop", strategy, "topic", given)));
    return runCommand(["diff", file, "--target", `rabbitmq@${broker.version}`, "--strategy", strategy, "--url", url]);
  };
  expect(await compared(right)).toMatchObject({ code: 0 });
  const { code, out } = await compared({ ...right, "x-note": 6, [alternate]: "unrouted" });
  expect(code).toBe(1);
  expect(out).toContain("the exchange events.orders differs: messages behave otherwise");
  expect(out).toContain('alternate-exchange: declared "unrouted", deployed "events.rest"');
  expect(out).toContain("x-note: declared 6, deployed 5");
});
