import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import amqplib from "amqplib";
import { consume } from "redeliver/consume";
import { describe, inject, test } from "vitest";

import { run } from "../../src/cli/run.ts";
import { parseText } from "../../src/declare/parse.ts";
import { brokers, compile } from "../../src/index.ts";
import { adoptedTopologies } from "../support/adopted-topologies.ts";
import { deploy, policyOfEachQueue, until } from "../support/deployed-system.ts";
import { accepted, checked } from "../support/examples.ts";
import { type Broker, createVhost } from "../support/live.ts";
import { type JsonObject, type Management, createManagement } from "../support/management.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Real topologies on a live broker, with messages in their queues. Each is adopted, and the compiled declaration is
// deployed over it. Then consumers of the work queues take every message.

const folder = temporaryFolder("adopt");

const each = 20;

interface Counts extends Readonly<Record<string, number>> {}

async function queuesIn(management: Management, vhost: string): Promise<readonly string[]> {
  const path = `queues/${encodeURIComponent(vhost)}?disable_stats=true`;
  return (await management.get<readonly { name: string }[]>(path)).map(({ name }) => name).toSorted();
}

describe.for(inject("brokers"))("RabbitMQ $version", { concurrent: true }, (broker: Broker) => {
  const { version } = broker;
  // Up to 4.2 no queue delays returns by itself.
  const topologies = Object.entries(adoptedTopologies).filter(
    ([name]) => version === "4.3" || !name.startsWith("delayed retry"),
  );
  test.for(topologies)(
    "%s: every name stays, and no message is lost but by a rejection that RD334 warns of",
    async ([name, { definitions, consumers, rejected, options }], { expect, onTestFinished }) => {
      const { vhost, amqpUrl, dispose } = await createVhost(broker);
      onTestFinished(dispose);
      const management = createManagement(broker.managementUrl);
      const here = (all: readonly object[] = []): readonly object[] => all.map((one) => ({ ...one, vhost }));
      const { exchanges, queues, bindings, policies } = definitions;
      await management.importDefinitions({
        exchanges: here(exchanges),
        queues: here(queues),
        bindings: here(bindings),
        policies: here(policies),
      });
      const connection = await amqplib.connect(amqpUrl);
      onTestFinished(async () => connection.close());
      const channel = await connection.createConfirmChannel();
      const before = await queuesIn(management, vhost);
      const lasting = before.filter((queue) => !/delay-level|celery_delayed|pidbox/.test(queue));
      for (const queue of lasting)
        for (let index = 0; index < each; index++)
          channel.publish("", queue, Buffer.from("{}"), { messageId: `${queue} ${index}`, persistent: true });
      await channel.waitForConfirms();

      const output = join(folder, `${version} ${name}.yaml`);
      const importFile = join(folder, `${version} ${name}.json`);
      const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(vhost)}`;
      const words = ["adopt", "--url", url, "--name", "adopted", "--output", output, "--import", importFile];
      expect(await run(words)).toBe(0);
      expect(await run(words), "nothing is overwritten").toBe(2);
      const parsed = parseText(readFileSync(output, "utf8"), "yaml");
      const system = checked(parsed.ok ? parsed.value : null);
      const compiled = compile(system, { broker: "rabbitmq", version, ...options });
      if (!compiled.ok) throw new Error(compiled.diagnostics[0]?.message);
      await management.importDefinitions(
        brokers.rabbitmq.exportFormats["definitions"]?.(compiled.value, vhost) as JsonObject,
      );
      const after = await queuesIn(management, vhost);
      expect(after).toEqual(expect.arrayContaining([...before]));
      const roles = new Map(compiled.value.topology.queues.map(({ name: queue, role }) => [queue, role]));
      for (const [queue, [, , dead]] of Object.entries(consumers)) {
        expect(roles.get(queue)).toBe("work");
        expect(roles.get(dead)).toBe("dead");
      }

      const classic = new Set(
        (queues as readonly { name: string; arguments: JsonObject }[]).flatMap((queue) =>
          queue.arguments["x-queue-type"] === "quorum" ? [] : [queue.name],
        ),
      );
      await until(30_000, async () => {
        const inForce = await policyOfEachQueue(broker, vhost);
        const names = compiled.value.topology.queues.map((queue) => queue.name);
        // The policies of a compiled system are for quorum queues.
        return names.every((queue) => classic.has(queue) || inForce.get(queue) === queue);
      });
      const ids = lasting.flatMap((queue) => Array.from({ length: each }, (_, index) => `${queue} ${index}`));
      // A queue that gets its settings by a policy has a way on for a rejected message from now on.
      const staying = new Set(
        Object.entries(system.consumers).flatMap(([key, { queueSettings }]) =>
          queueSettings === "policy"
            ? (compiled.value.contracts.find(({ consumer }) => consumer === key)?.workQueue ?? [])
            : [],
        ),
      );
      const failing = new Set(
        ids.filter((id) => {
          const [queue = "", index] = id.split(" ");
          const isKept = rejected !== "lost today" || staying.has(queue);
          return isKept && queue in consumers && Number(index) % 2 === 1;
        }),
      );
      const failed = new Set<string>();
      const found: Record<string, number> = {};
      const take = async (queue: string): Promise<void> => {
        await channel.consume(queue, (message) => {
          if (message === null) return;
          const id = String(message.properties.messageId);
          if (failing.has(id) && !failed.has(id)) {
            failed.add(id);
            return channel.nack(message, false, false);
          }
          found[id] = (found[id] ?? 0) + 1;
          channel.ack(message);
        });
      };
      // Waiting queues have no consumer: their messages come back to the work queue by themselves.
      const isTaken = (queue: string): boolean =>
        !/delay-level|celery_delayed|pidbox|attempt/.test(queue) &&
        !(lasting.includes(queue) && /wait|retry/.test(queue));
      for (const queue of after.filter(isTaken)) await take(queue);
      const lost = rejected === "lost after" ? failing : new Set<string>();
      const missing = (): readonly string[] => ids.filter((id) => found[id] === undefined && !lost.has(id));
      await until(60_000, () => missing().length === 0 && failed.size === failing.size).catch(() => undefined);
      expect(missing()).toEqual([]);
      const whole = ids.filter((id) => !lost.has(id));
      expect(found satisfies Counts).toEqual(Object.fromEntries(whole.map((id) => [id, 1])));
    },
  );

  test("the declared consumer does not start on a queue with other arguments, and names them", async ({
    expect,
    onTestFinished,
  }) => {
    const { definitions } = adoptedTopologies["a delivery limit and a dead queue"] ?? { definitions: null };
    const { vhost, amqpUrl, dispose } = await createVhost(broker);
    onTestFinished(dispose);
    const management = createManagement(broker.managementUrl);
    const here = (all: readonly object[] = []): readonly object[] => all.map((one) => ({ ...one, vhost }));
    await management.importDefinitions({
      exchanges: here(definitions?.exchanges),
      queues: here(definitions?.queues),
      bindings: here(definitions?.bindings),
    });
    const output = join(folder, `${version} consume.yaml`);
    const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(vhost)}`;
    expect(await run(["adopt", "--url", url, "--output", output])).toBe(0);
    const parsed = parseText(readFileSync(output, "utf8"), "yaml");
    const system = checked(parsed.ok ? parsed.value : null);
    const target = { broker: "rabbitmq", version } as const;
    const compiled = accepted(compile(system, target));
    await management.importDefinitions(brokers.rabbitmq.exportFormats["definitions"]?.(compiled, vhost) as JsonObject);
    const connection = { url: amqpUrl, managementUrl: broker.managementUrl };
    const started = consume(system, "mail", { target, connection }, () => undefined);
    await expect(started).rejects.toThrow(/x-dead-letter-exchange/);
  });

  test("a deployed system is imported whole, with the ids that the broker gives", async ({
    expect,
    onTestFinished,
  }) => {
    const from = { orders: ["order.#", "*.b c~d!(x)", "plain"] };
    const retry = { attempts: 3, backoff: { kind: "exponential", first: "1s", factor: 2 } };
    const shop = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: { from, retry } } };
    const { vhost, compiled, dispose } = await deploy(broker, shop, version === "3.10" ? "waits" : "staged");
    onTestFinished(dispose);
    const management = createManagement(broker.managementUrl);
    const idsOf = async (...words: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      const file = join(folder, `${version} ${words[0]}.json`);
      expect(await run(["adopt", ...words, "--output", `${file}.yaml`, "--import", file])).toBe(0);
      const { resources } = JSON.parse(readFileSync(file, "utf8")) as {
        resources: readonly Record<string, string>[];
      };
      return new Map(resources.map(({ type, logicalName, id = "" }) => [`${type} ${logicalName}`, id]));
    };
    const live = await idsOf("--url", `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(vhost)}`);
    const { queues, exchanges, policies, bindings } = compiled.topology;
    expect(live.size).toBe(1 + [queues, exchanges, policies, bindings].flat().length);
    const definitions = join(folder, `${version} deployed.json`);
    const exported = await management.exportDefinitions(vhost);
    writeFileSync(definitions, JSON.stringify({ ...exported, rabbitmq_version: broker.fullVersion }));
    const offline = await idsOf("--definitions", definitions);
    // A part of the name of a virtual host that its export does not have comes first.
    const keyOf = (id = ""): string => id.slice(id.indexOf("/"));
    const known = [...offline].filter(([name]) => name.includes("binding:Binding"));
    expect(known.length).toBeGreaterThan(5);
    for (const [name, id] of known) expect([name, keyOf(id)]).toEqual([name, keyOf(live.get(name))]);
  });
});
