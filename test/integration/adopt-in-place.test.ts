import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import amqplib from "amqplib";
import { consume } from "redeliver/consume";
import { describe, test } from "vitest";

import { parseText } from "../../src/declare/parse.ts";
import type { SystemInput } from "../../src/declare/system.ts";
import { compile } from "../../src/index.ts";
import { adoptedTopologies } from "../support/adopted-topologies.ts";
import { modelledEngine, pulumiEngine } from "../support/change/engines.ts";
import { until } from "../support/deployed-system.ts";
import { accepted, checked } from "../support/examples.ts";
import { brokers, createVhost } from "../support/live.ts";
import { type JsonObject, createManagement } from "../support/management.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";
import { runSeparately } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Queues that exist without arguments stay. A deployment over them gives each its settings by a policy, while messages
// lie in all of them and the old code runs.

if (!hasPulumiCli) console.warn("[adopt-in-place] the model of the engine ran: there is no pulumi on PATH");

const folder = temporaryFolder("adopt-in-place");

const topologies = [
  "MassTransit",
  "NServiceBus",
  "Celery with native delayed delivery",
  "three waiting queues by hand",
  "delayed retry by a policy",
  "one dead queue for all",
];
const retry = { attempts: 3, backoff: { kind: "constant", delay: "200ms" } };

/** The requests among the printed lines. */
const requestsIn = (text: string): readonly string[] =>
  text.split("\n").flatMap((line) => /^ +api DELETE '?\/api\/([^\s']+)'?$/.exec(line)?.[1] ?? []);

describe.for(brokers())("on RabbitMQ $version", { concurrent: true, timeout: 300_000 }, (broker) => {
  // Up to 4.2 no queue delays returns by itself.
  const possible = topologies.filter((name) => broker.version === "4.3" || !name.startsWith("delayed retry"));
  test.for(possible)(
    "%s: every queue keeps its name and its messages, and new code handles all of them",
    async (name, { expect, onTestFinished }) => {
      const { definitions, consumers, options } = adoptedTopologies[name] ?? expect.unreachable();
      const { version } = broker;
      const { vhost, amqpUrl, dispose } = await createVhost(broker);
      onTestFinished(dispose);
      const management = createManagement(broker.managementUrl);
      const here = (all: readonly object[] = []): readonly object[] => all.map((one) => ({ ...one, vhost }));
      const [exchanges, queues, bindings, policies] = (["exchanges", "queues", "bindings", "policies"] as const).map(
        (kind) => here(definitions[kind]),
      );
      await management.importDefinitions({ exchanges, queues, bindings, policies } as JsonObject);
      const connection = await amqplib.connect(amqpUrl);
      onTestFinished(async () => connection.close());
      const channel = await connection.createConfirmChannel();
      const named = (definitions.queues as readonly { name: string }[]).map((queue) => queue.name);
      const lasting = named.filter((queue) => !/delay-level|celery_delayed/.test(queue));
      const idsIn = (phase: string): readonly string[] =>
        lasting.flatMap((queue) => [0, 1, 2, 3].map((index) => `${phase} ${index} ${queue}`));
      const publish = async (phase: string, to: readonly string[]): Promise<void> => {
        for (const id of idsIn(phase)) {
          const queue = id.split(" ").slice(2).join(" ");
          if (to.includes(queue)) channel.sendToQueue(queue, Buffer.from("{}"), { messageId: id, persistent: true });
        }
        await channel.waitForConfirms();
      };
      await publish("before", lasting);

      const output = join(folder, `${version} ${name}.yaml`);
      const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(vhost)}`;
      const said = await runSeparately(["adopt", "--url", url, "--name", "adopted", "--output", output]);
      expect(said.code, said.error).toBe(0);
      expect(said.out).not.toContain("needs a new queue");
      const parsed = parseText(readFileSync(output, "utf8"), "yaml");
      const declared = (parsed.ok ? parsed.value : null) as SystemInput;
      const system = checked({
        ...declared,
        consumers: Object.fromEntries(
          Object.entries(declared.consumers).map(([key, own]) => [key, { ...own, retry, crash: undefined }]),
        ),
      } as SystemInput);
      const target = { broker: "rabbitmq", version, ...options } as const;
      const { contracts } = accepted(compile(system, target));
      expect(contracts.map(({ workQueue }) => workQueue).toSorted()).toEqual(Object.keys(consumers).toSorted());

      // The old code handles some messages before and during the deployment, and goes in the middle of others.
      const work = Object.keys(consumers);
      const handled = new Map<string, number>();
      const old = await connection.createChannel();
      await old.prefetch(2);
      let deliveries = 0;
      const held = new Set<string>();
      const tags: string[] = [];
      for (const queue of work) {
        const { consumerTag } = await old.consume(queue, (message) => {
          if (message === null) return;
          const id = String(message.properties.messageId);
          if (deliveries++ % 3 === 2) return void held.add(id);
          handled.set(id, (handled.get(id) ?? 0) + 1);
          old.ack(message);
        });
        tags.push(consumerTag);
      }
      const engine = await (hasPulumiCli ? pulumiEngine : modelledEngine)(broker);
      onTestFinished(engine.dispose);
      const deployment = { component: "adopted", vhost, system, version, strategy: "auto", ...options } as const;
      expect(await engine.up(deployment)).toBeNull();
      await publish("after", work);
      // Each message on its way to the old code arrives before the answer to a cancel.
      for (const tag of tags) await old.cancel(tag);
      await old.close();
      expect((await management.queues(vhost)).map((queue) => queue.name)).toEqual(expect.arrayContaining(named));

      const attempts = new Map<string, number>();
      const isFailing = (id: string): boolean => id.startsWith("after 0 ");
      for (const { consumer } of contracts) {
        const place = { url: amqpUrl, managementUrl: broker.managementUrl };
        const running = await consume(system, consumer, { target, connection: place }, ({ id }) => {
          attempts.set(String(id), (attempts.get(String(id)) ?? 0) + 1);
          if (isFailing(String(id))) throw new Error("this message always fails");
          handled.set(String(id), (handled.get(String(id)) ?? 0) + 1);
        });
        onTestFinished(async () => void (await running.stop()));
      }
      const dead = new Set<string>();
      const drain = async (): Promise<void> => {
        for (const queue of [
          ...contracts.map(({ deadQueue }) => String(deadQueue)),
          ...named.filter((each) => !work.includes(each) && !/wait|retry|level|delayed/.test(each)),
        ])
          for (let message = await channel.get(queue); message !== false; message = await channel.get(queue)) {
            dead.add(String(message.properties.messageId));
            channel.ack(message);
          }
      };
      const all = [
        ...idsIn("before"),
        ...idsIn("after").filter((id) => work.includes(id.split(" ").slice(2).join(" "))),
      ];
      await until(60_000, async () => {
        await drain();
        return all.every((id) => handled.has(id) || dead.has(id));
      }).catch(() => undefined);
      expect(all.filter((id) => !handled.has(id) && !dead.has(id))).toEqual([]);
      expect([...handled].filter(([, times]) => times > 1)).toEqual([]);
      for (const id of all.filter((each) => isFailing(each) && !handled.has(each)))
        // Under native the end of the old code is an attempt of the messages that it has.
        expect([id, attempts.get(id), dead.has(id)]).toEqual([
          id,
          held.has(id) && attempts.get(id) === 2 ? 2 : 3,
          true,
        ]);

      // The printed requests end what the old code leaves. Then the broker is as declared, but for ways that stay.
      const rest = said.out.includes("leave the bindings of") ? ": 0 can lose messages, 1 change" : "no difference";
      for (const request of requestsIn(said.out)) await management.delete(request);
      const declaredFile = join(folder, `${version} ${name} now.json`);
      writeFileSync(declaredFile, JSON.stringify(system));
      const targetFile = join(folder, `${version} ${name} target.json`);
      writeFileSync(targetFile, JSON.stringify(target));
      await until(30_000, async () => {
        const diff = await runSeparately(["diff", declaredFile, "--target", targetFile, "--url", url]);
        return diff.out.includes(rest);
      });
      expect(await engine.up(deployment)).toBeNull();
    },
  );
});
