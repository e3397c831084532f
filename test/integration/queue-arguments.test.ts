import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { consume } from "redeliver/consume";
import { expect, onTestFinished, test } from "vitest";

import { RefusedError } from "../../src/index.ts";
import { deploy, policyOfEachQueue, until, type DeployedSystem } from "../support/deployed-system.ts";
import { type Decision, drive } from "../support/drive.ts";
import { checked } from "../support/examples.ts";
import { brokers, type Broker } from "../support/live.ts";
import { createManagement, type JsonObject } from "../support/management.ts";
import { runSeparately } from "../support/run-command.ts";
import { speaksAmqp091, strategiesOn, type Strategy } from "../support/strategies.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// A queue that is in production has arguments of its own, and messages in it. The system joins it as it is.

const exchange = "shop.orders";
const routingKey = "order.placed";
const managed = (broker: Broker) => createManagement(broker.managementUrl);

function systemOf(strategy: Strategy, queueArguments: object, delay = "200ms", queueSettings = "arguments"): object {
  const billing = {
    from: { orders: "all" },
    retry: { attempts: 3, backoff: { kind: "constant", delay } },
    protocol: speaksAmqp091(strategy) ? "amqp-0-9-1" : "amqp-1.0",
    queueArguments,
    queueSettings,
    deadLetter: { queueSettings },
  };
  return { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing } };
}

/** All arguments that this version and this strategy can have. */
function allOn(broker: Broker, strategy: Strategy): object {
  return {
    singleActiveConsumer: true,
    queueLeaderLocator: "client-local",
    quorumInitialGroupSize: 1,
    ...(broker.version === "3.10" ? {} : { consumerTimeout: "5m" }),
    ...(strategy === "native" || strategy === "deferred" ? { maxLength: 100, maxLengthBytes: 1_000_000 } : {}),
  };
}

const cases = brokers().flatMap((broker) =>
  strategiesOn(broker.version).flatMap((strategy) =>
    ["arguments", "policy"].map((place) => ({ broker, strategy, place })),
  ),
);

test.for(cases)(
  "a queue with arguments of its own is joined, and its messages are retried one instance at a time: $strategy on $broker.version, settings by $place",
  async ({ broker, strategy, place }) => {
    const declared = systemOf(strategy, allOn(broker, strategy), "200ms", place);
    const first = await deploy(broker, declared, strategy);
    onTestFinished(first.dispose);
    // The work queue and the dead queue alone, as somebody else made them.
    const own = first.compiled.topology.queues.filter(({ role }) => role === "work" || role === "dead");
    if (place === "policy")
      expect(
        own.flatMap((queue) => Object.keys(queue.arguments)).filter((key) => /dead|overflow|limit/.test(key)),
      ).toEqual([]);
    const system = await deploy(broker, declared, strategy, async (vhost) => {
      for (const { name, arguments: given } of own)
        await managed(broker).declareQueue(vhost, name, { durable: true, arguments: given as JsonObject });
    });
    onTestFinished(system.dispose);

    const fates: Readonly<Record<string, Decision>> = { fine: "success", permanent: "permanent", crashing: "crash" };
    const decide = ({ id }: { readonly id: string }): Decision => fates[id] ?? "transient";
    const instance = { url: system.url, contract: system.contract("billing"), decide };
    const instances = [await drive(instance), await drive(instance)] as const;
    for (const { stop } of instances) onTestFinished(stop);
    const ids = ["a", "fine", "permanent", "b"];
    await system.publish(ids, { exchange, routingKey });
    const letters: string[] = [];
    const dead = async (count: number): Promise<void> =>
      until(60_000, async () => {
        for (const { properties } of await system.drain("shop.billing.dead"))
          letters.push(String(properties.messageId));
        return letters.length >= count;
      });
    await dead(3);
    expect(letters.toSorted()).toEqual(["a", "b", "permanent"]);
    // The broker decides which of the two is active, and by AMQP 1.0 the second one may be there first.
    const [one, other] = instances;
    const [active, passive] = one.seen.length > 0 ? [one, other] : [other, one];
    for (const id of ["a", "b"])
      expect(active.seen.filter((each) => each.id === id).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(passive.seen).toEqual([]);
    // A crash of the active one hands over to the other, and no message is lost between the two.
    await system.publish(["crashing"], { exchange, routingKey });
    await dead(4);
    expect(letters.at(-1)).toBe("crashing");
    expect(passive.seen.length).toBeGreaterThan(0);
    expect([...active.seen, ...passive.seen].filter(({ id }) => id === "crashing").length).toBe(3);
  },
);

test.for(brokers())("consume compares the arguments of the queue: $version", { timeout: 120_000 }, async (broker) => {
  const target = { broker: "rabbitmq", version: broker.version, strategy: "waits" } as const;
  const queueArguments = allOn(broker, "waits");
  const system = await deploy(broker, systemOf("waits", queueArguments), "waits");
  onTestFinished(system.dispose);
  const codesOf = async (own: object, connection: object): Promise<readonly string[]> => {
    const declared = checked(systemOf("waits", own));
    try {
      const options = { target, connection: { url: system.url, ...connection } };
      await (await consume(declared, "billing", options, () => {})).stop();
      return [];
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return error.diagnostics.map(({ code }) => code);
    }
  };
  for (const connection of [{}, { managementUrl: broker.managementUrl }]) {
    expect(await codesOf(queueArguments, connection)).toEqual([]);
    expect(await codesOf({ ...queueArguments, singleActiveConsumer: false }, connection)).toEqual(["RD808"]);
  }
});

test.for(brokers())(
  "a policy that takes the settings of a queue away stops its consumer, and diff says that messages are lost: $version",
  { timeout: 120_000 },
  async (broker) => {
    const { version } = broker;
    const target = { broker: "rabbitmq", version, strategy: "waits" } as const;
    const declared = systemOf("waits", {}, "200ms", "policy");
    const system = await deploy(broker, declared, "waits");
    onTestFinished(system.dispose);
    const options = { target, connection: { url: system.url, managementUrl: broker.managementUrl } };
    await (await consume(checked(declared), "billing", options, () => {})).stop();
    await managed(broker).putPolicy(system.vhost, "team", {
      pattern: "^shop",
      "apply-to": "queues",
      priority: 2_000,
      definition: { "max-length": 100_000 },
    });
    await until(30_000, async () => (await policyOfEachQueue(broker, system.vhost)).get("shop.billing") === "team");
    const started = consume(checked(declared), "billing", options, () => {});
    await expect(started).rejects.toThrow(/dead-letter-exchange/);
    // By AMQP alone no policy shows, as docs/sources.md says.
    const unseen = { target, connection: { url: system.url } };
    await (await consume(checked(declared), "billing", unseen, () => {})).stop();
    const file = join(temporaryFolder("queue-arguments"), `${version}.json`);
    writeFileSync(file, JSON.stringify(declared));
    const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(system.vhost)}`;
    const words = ["diff", file, "--target", `rabbitmq@${version}`, "--strategy", "waits", "--url", url];
    const { code, out } = await runSeparately(words);
    expect(code).toBe(1);
    expect(out).toContain("the policy in force on the queue shop.billing differs: messages can be lost by it");
  },
);

/** Publishes one message and tells if the broker took it. */
async function isTaken({ channel }: DeployedSystem, id: string): Promise<boolean> {
  return new Promise((resolve) => {
    channel.publish(
      exchange,
      routingKey,
      Buffer.from("{}"),
      { messageId: id, persistent: true },
      (refusal: unknown) => {
        resolve(refusal === null);
      },
    );
  });
}

test.for(cases.filter(({ strategy }) => strategy === "native" || strategy === "deferred"))(
  "a full queue refuses new messages and keeps every retry: $strategy on $broker.version, settings by $place",
  async ({ broker, strategy, place }) => {
    const system = await deploy(broker, systemOf(strategy, { maxLength: 5 }, "2s", place), strategy);
    onTestFinished(system.dispose);
    const taken: string[] = [];
    let refused = 0;
    const fill = async (prefix: string): Promise<void> => {
      for (let index = 0; index < 30; index += 1) {
        const id = `${prefix}${index}`;
        if (await isTaken(system, id)) taken.push(id);
        else refused += 1;
      }
    };
    await fill("early");
    expect(refused).toBeGreaterThan(0);
    const early = taken.length;
    expect(early).toBeGreaterThanOrEqual(5);
    const contract = system.contract("billing");
    const driver = await drive({ url: system.url, contract, decide: () => "transient" });
    onTestFinished(driver.stop);
    // All of them have failed and come back into a queue that is full again, or still.
    await until(60_000, () => driver.seen.length >= early);
    await fill("late");
    const letters = await system.deadIds(taken.length);
    expect(letters.toSorted()).toEqual(taken.toSorted());
    for (const id of taken)
      expect(driver.seen.filter((each) => each.id === id).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  },
);

test.for(cases.filter(({ strategy, place }) => place === "arguments" && ["staged", "waits"].includes(strategy)))(
  "the reason against a limit: one full work queue holds up the retries of another consumer: $strategy on $broker.version",
  async ({ broker, strategy }) => {
    const base = systemOf(strategy, {}) as { consumers: { billing: object } };
    const declared = { ...base, consumers: { billing: base.consumers.billing, mail: base.consumers.billing } };
    const system = await deploy(broker, declared, strategy);
    onTestFinished(system.dispose);
    const name = "limit";
    await managed(broker).putPolicy(system.vhost, name, {
      pattern: String.raw`^shop\.billing$`,
      "apply-to": "queues",
      priority: 2_000,
      definition: { "max-length": 1, overflow: "reject-publish" },
    });
    const full = async (): Promise<boolean> => !(await isTaken(system, "filler"));
    await until(30_000, full);
    const { compiled, channel } = system;
    const [tier = ""] = compiled.topology.exchanges
      .filter(({ role }) => role === "tier" || role === "wait")
      .map((each) => each.name);
    const keyOf = (consumer: string): string =>
      strategy === "staged" ? `shop.${consumer}` : `redeliver:shop.${consumer}:attempt:2`;
    const send = async (consumer: string, count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1)
        channel.publish(tier, keyOf(consumer), Buffer.from("{}"), { persistent: true });
      await channel.waitForConfirms();
    };
    const waiting = async (queue: string): Promise<number> => (await channel.checkQueue(queue)).messageCount;
    await channel.purgeQueue("shop.mail");
    await send("mail", 5);
    await until(60_000, async () => (await waiting("shop.mail")) === 5);
    await send("billing", 100);
    await send("mail", 5);
    // All that the tier still has is due: it shows none as ready.
    await until(60_000, async () => (await waiting(tier)) === 0);
    expect(await waiting("shop.mail")).toBe(5);
  },
);
