import amqplib from "amqplib";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { consume } from "redeliver/consume";
import { describe, test } from "vitest";

import { parseText } from "../../src/declare/parse.ts";
import type { SystemInput } from "../../src/declare/system.ts";
import { brokers, compile } from "../../src/index.ts";
import { adoptedTopologies } from "../support/adopted-topologies.ts";
import { until } from "../support/deployed-system.ts";
import { accepted, checked } from "../support/examples.ts";
import { brokers as liveBrokers, createVhost } from "../support/live.ts";
import { type JsonObject, type Management, ManagementError, createManagement } from "../support/management.ts";
import { runSeparately } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Each topology is adopted while messages lie in all of its queues. Then each consumer with a queue that cannot change
// gets a new one, by the requests and commands that adopt prints, from the deployment to the end of the old queues.

const folder = temporaryFolder("adopt-moves");

interface Binding {
  readonly source: string;
  readonly destination: string;
  readonly routing_key: string;
  readonly arguments: Readonly<Record<string, string>>;
}

/** The printed steps of one consumer, each with its lines. */
interface Printed {
  readonly consumer: string;
  readonly queue: string;
  readonly next: string;
  readonly staying: readonly string[];
  /** The lines of the step that has these words. */
  readonly step: (words: string) => readonly string[];
}

function printedIn(text: string): readonly Printed[] {
  return text
    .split(/^(?=\S+ needs a new queue beside )/m)
    .slice(1)
    .map((section) => {
      const [, consumer = "", queue = ""] = /^(\S+) needs a new queue beside (\S+),/.exec(section) ?? [];
      const steps = section.split(/^ {2}(?=\d+\. )/m).slice(1);
      const [, next = ""] = /write "queue: (\S+)" for /.exec(section) ?? [];
      const ways = [/who publishes to (.+)\. Their messages/, /if producers publish to (.+) as well/];
      const staying = ways.flatMap((way) => way.exec(section)?.[1]?.split(", ") ?? []);
      const step = (words: string): readonly string[] => {
        const found = steps.find((each) => each.includes(words)) ?? "";
        return found.split("\n").map((line) => line.trim());
      };
      return { consumer, queue, next, staying, step };
    });
}

/** Sends the requests among the lines, as a shell would read them. */
async function send(management: Management, lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    const [, method, path = "", body = ""] = /^api (DELETE|PUT) '?\/api\/([^\s']+)'?(?: '(.+)')?$/.exec(line) ?? [];
    if (method === "PUT") await management.put(path, JSON.parse(body) as JsonObject);
    if (method === "DELETE")
      await management.delete(path).catch((cause: unknown) => {
        // Some waiting queues go away by themselves.
        if (!(cause instanceof ManagementError) || cause.status !== 404) throw cause;
      });
  }
}

describe.for(liveBrokers())("on RabbitMQ $version", { concurrent: true, timeout: 600_000 }, (broker) => {
  // Up to 4.2 no queue delays returns by itself.
  const topologies = Object.entries(adoptedTopologies).filter(
    ([name]) => broker.version === "4.3" || !name.startsWith("delayed retry"),
  );
  test.for(topologies)(
    "%s: the printed steps lead to new queues, and lose no message",
    async ([name, topology], { expect, onTestFinished, skip }) => {
      const { version } = broker;
      const { vhost, amqpUrl, dispose } = await createVhost(broker);
      onTestFinished(dispose);
      const management = createManagement(broker.managementUrl);
      const { policies = [], ...rest } = topology.definitions;
      const here = (all: readonly object[]): readonly object[] => all.map((one) => ({ ...one, vhost }));
      const [exchanges, queues, bindings] = [rest.exchanges, rest.queues, rest.bindings].map(here);
      await management.importDefinitions({ exchanges, queues, bindings, policies: here(policies) } as JsonObject);
      const connection = await amqplib.connect(amqpUrl);
      onTestFinished(async () => connection.close());
      const channel = await connection.createConfirmChannel();
      const returned: string[] = [];
      channel.on("return", ({ properties }) => returned.push(String(properties.messageId)));
      const lying = (queue: string): readonly string[] => [0, 1, 2].map((index) => `lying ${index} ${queue}`);
      const named = (topology.definitions.queues as readonly { name: string }[]).map((queue) => queue.name);
      for (const id of named.flatMap(lying))
        channel.sendToQueue(id.split(" ").slice(2).join(" "), Buffer.from("{}"), { messageId: id, persistent: true });
      await channel.waitForConfirms();
      // The messages that are letters until the last step.
      const letters = new Set<string>();
      if (topology.rejected === "kept") {
        // The broker itself dead-letters one message of each work queue.
        for (const queue of Object.keys(topology.consumers)) {
          const message = await channel.get(queue);
          if (message === false) continue;
          letters.add(String(message.properties.messageId));
          channel.nack(message, false, false);
        }
      }

      const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(vhost)}`;
      const output = join(folder, `${version}-${name.replaceAll(/\W+/g, "-")}.yaml`);
      const said = await runSeparately(["adopt", "--url", url, "--name", "adopted", "--output", output]);
      const moves = printedIn(said.out);
      if (moves.length === 0) skip("every queue can stay");
      const parsed = parseText(readFileSync(output, "utf8"), "yaml");
      const declaration = (parsed.ok ? parsed.value : null) as SystemInput;
      const consumers = Object.fromEntries(
        Object.entries(declaration.consumers).map(([key, consumer]) => {
          const move = moves.find((each) => each.consumer === key);
          if (move === undefined) return [key, consumer];
          const { deadLetter, queueSettings, ...others } = consumer;
          const [line = ""] = move.step("into the declaration");
          const [, out = ""] = /take (.+) out of its deadLetter/.exec(line) ?? [];
          const kept = Object.entries(deadLetter ?? {}).filter(([each]) => !out.split(" and ").includes(each));
          const [, keptDead] = /write "queue: (\S+)" into its deadLetter/.exec(line) ?? [];
          const dead = { ...Object.fromEntries(kept), ...(keptDead === undefined ? {} : { queue: keptDead }) };
          const left = line.includes("take its deadLetter away") ? undefined : dead;
          const settings = line.includes("take its queueSettings away") ? undefined : queueSettings;
          return [key, { ...others, queueSettings: settings, deadLetter: left, queue: move.next }];
        }),
      );
      const system = checked(JSON.parse(JSON.stringify({ ...declaration, consumers })));
      const target = { broker: "rabbitmq", version, ...topology.options } as const;
      const compiled = accepted(compile(system, target));
      writeFileSync(output, JSON.stringify(system));
      const targetFile = output.replace(/yaml$/, "target.json");
      writeFileSync(targetFile, JSON.stringify(target));

      const bound = (topology.definitions.bindings as readonly Binding[]).filter(
        ({ source, destination }) => source !== "" && moves.some(({ queue }) => queue === destination),
      );
      // Without a source producers send straight to the old queue, until they are told the new one.
      const direct = moves.filter(({ queue }) => !bound.some(({ destination }) => destination === queue));
      const sentTo = (phase: string, { queue, next }: Printed): Binding => ({
        source: "",
        destination: queue,
        routing_key: phase === "after" ? next : queue,
        arguments: {},
      });
      const waysIn = (phase: string): readonly Binding[] => [...bound, ...direct.map((move) => sentTo(phase, move))];
      const ways = waysIn("before");
      const published: string[] = [];
      const publish = async (phase: string): Promise<readonly string[]> => {
        const ids = [...ways.keys()].flatMap((way) => [0, 1, 2, 3, 4].map((index) => `${phase} ${way} ${index}`));
        for (const id of ids) {
          const way = waysIn(phase)[Number(id.split(" ")[1])] ?? expect.unreachable();
          const key = way.routing_key.replaceAll(/[#*]/g, "x");
          const { "x-match": _, ...headers } = way.arguments;
          channel.publish(way.source, key, Buffer.from("{}"), {
            messageId: id,
            headers,
            mandatory: true,
            persistent: true,
          });
        }
        await channel.waitForConfirms();
        published.push(...ids);
        return ids;
      };
      await publish("before");
      await management.importDefinitions(
        brokers.rabbitmq.exportFormats["definitions"]?.(compiled, vhost) as JsonObject,
      );
      const between = await publish("between");
      for (const { step } of moves) await send(management, step("at once send these requests"));
      const late = await publish("after");

      const seen = new Map<string, string[]>();
      const see = (id: string, queue: string): void => void seen.set(id, [...(seen.get(id) ?? []), queue]);
      const take = async (from: amqplib.Channel, queue: string): Promise<void> => {
        await from.consume(queue, (message) => {
          if (message === null) return;
          see(String(message.properties.messageId), queue);
          from.ack(message);
        });
      };
      const oldCode = await connection.createChannel();
      for (const { queue } of moves) await take(oldCode, queue);
      // The letters of the old dead queues.
      const environment = {
        RABBITMQ_PASSWORD: decodeURIComponent(new URL(amqpUrl).password),
        REDELIVER_JOURNAL: join(folder, `${version} ${name}.sqlite`),
      };
      const redrive = async (command: string, ...more: readonly string[]) => {
        const [runner, program, ...words] = command
          .replace("AMQP_PORT", new URL(amqpUrl).port)
          .replace("--target TARGET", `--target ${targetFile}`)
          .split(" ");
        expect([runner, program]).toEqual(["npx", "redeliver"]);
        return runSeparately([...words, ...more], environment);
      };
      const sendLetters = async ({ step }: Printed): Promise<void> => {
        const lines = step(", send the letters of ");
        const command = lines.find((line) => line.startsWith("npx redeliver "));
        if (command === undefined) return;
        await send(management, lines);
        // The management API shows a policy late, and letters may come between the count and the redrive.
        const sent = async (): Promise<boolean> => {
          const plan = await redrive(command);
          if (plan.error.includes("RD841")) return false;
          const [, count = ""] = /With --confirm (\d+)/.exec(plan.out) ?? expect.unreachable(plan.out + plan.error);
          expect(Number(count)).toBeGreaterThanOrEqual(3);
          expect(plan.out).not.toMatch(/stay/);
          // A wait would take long, and says nothing about code that never fails.
          const done = await redrive(command, "--confirm", count, "--wait", "0s");
          if (done.error.includes("RD811")) return false;
          expect(done.code, done.error).toBe(0);
          return true;
        };
        await until(60_000, sent);
      };

      // The first message of each way fails in the new code. So it has all of its attempts, and dies as declared.
      const failing = new Set([...ways.keys()].map((way) => `after ${way} 0`));
      const contracts = compiled.contracts.filter(({ consumer }) => moves.some((move) => move.consumer === consumer));
      for (const { consumer, workQueue } of contracts) {
        const place = { url: amqpUrl, managementUrl: broker.managementUrl };
        const running = await consume(system, consumer, { target, connection: place }, ({ id }) => {
          if (failing.has(String(id))) throw new Error("this message always fails");
          see(String(id), workQueue ?? "");
        });
        onTestFinished(async () => void (await running.stop()));
      }

      const ends = moves.map(({ step }) => step("stop the old code"));
      const old = ends.flat().flatMap((line) => /^api DELETE '?\/api\/queues\/[^/]+\/([^\s?]+)/.exec(line)?.[1] ?? []);
      const dead = moves.flatMap(
        ({ step }) => /--queue (\S+)/.exec(step(", send the letters of ").join(" "))?.[1] ?? [],
      );
      // The management API would count late. Some waiting queues go away by themselves.
      const countOf = async (queue: string): Promise<number> => {
        const probe = await connection.createChannel();
        probe.on("error", () => undefined);
        return probe.checkQueue(queue).then(
          async ({ messageCount }) => probe.close().then(() => messageCount),
          () => 0,
        );
      };
      const allOf = async (queues: readonly string[], later = new Set<string>()): Promise<void> => {
        for (const queue of queues) published.push(...lying(queue));
        const missing = (): readonly string[] => published.filter((id) => !seen.has(id) && !later.has(id));
        let empty = 0;
        await until(120_000, async () => {
          const counts = await Promise.all(queues.map(countOf));
          // A message may be on its way from one queue to the next.
          empty = counts.every((count) => count === 0) ? empty + 1 : 0;
          return empty > 1 && missing().length === 0;
        }).catch(() => undefined);
        expect(missing()).toEqual([]);
        expect(returned).toEqual([]);
      };
      await allOf(old.map(decodeURIComponent), new Set([...letters, ...failing]));
      await oldCode.close();
      for (const lines of ends) await send(management, lines);

      // The old code is gone, and its letters go to the new one.
      for (const move of moves) await sendLetters(move);
      for (const { deadQueue } of contracts) await take(channel, deadQueue ?? expect.unreachable());
      await allOf(dead);
      for (const { step } of moves) await send(management, step("no other consumer's letters come into "));
      const left = (await management.queues(vhost)).map((queue) => queue.name);
      const declaredQueues = new Set(compiled.topology.queues.map((queue) => queue.name));
      // An old dead queue of one consumer goes last.
      const oldDead = moves.flatMap(
        ({ step }) => /--queue (\S+) --url/.exec(step(", send the letters of ").join(" "))?.[1] ?? [],
      );
      expect(oldDead.filter((queue) => left.includes(queue) && !declaredQueues.has(queue))).toEqual([]);
      expect(left.filter((queue) => moves.some((move) => move.queue === queue))).toEqual([]);
      expect((await management.policies(vhost)).filter((policy) => policy.name.startsWith("redeliver"))).toEqual([]);

      const fresh = new Set(contracts.flatMap(({ workQueue, deadQueue }) => [workQueue, deadQueue]));
      // A way that stays leads into the old queue alone.
      const staying = new Set(moves.flatMap((each) => each.staying));
      const isBound = (id: string): boolean => Number(id.split(" ")[1]) < bound.length;
      const isMoved = (id: string): boolean => !staying.has(ways[Number(id.split(" ")[1])]?.source ?? "");
      const inOld = (id: string): readonly string[] => (seen.get(id) ?? []).filter((queue) => !fresh.has(queue));
      expect(late.filter((id) => isMoved(id) && inOld(id).length > 0)).toEqual([]);
      expect(
        between.filter((id) => isMoved(id) && isBound(id) && !seen.get(id)?.some((queue) => fresh.has(queue))),
      ).toEqual([]);
      expect([...ways.keys()].some((way) => isMoved(`late ${way}`))).toBe(true);
      const newDead = new Set(contracts.map(({ deadQueue }) => deadQueue));
      expect([...failing].filter((id) => isMoved(id) && !seen.get(id)?.some((queue) => newDead.has(queue)))).toEqual(
        [],
      );
    },
  );

  test("the broker refuses to delete a classic queue with a message, and cannot look into a quorum queue", async ({
    expect,
    onTestFinished,
  }) => {
    const { vhost, amqpUrl, dispose } = await createVhost(broker);
    onTestFinished(dispose);
    const management = createManagement(broker.managementUrl);
    const connection = await amqplib.connect(amqpUrl);
    onTestFinished(async () => connection.close());
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue("old", { arguments: { "x-queue-type": "classic" } });
    await channel.assertQueue("kept", { arguments: { "x-queue-type": "quorum" } });
    channel.sendToQueue("old", Buffer.from("{}"));
    await channel.waitForConfirms();
    const remove = async (queue: string) =>
      management.delete(`queues/${encodeURIComponent(vhost)}/${queue}?if-empty=true`);
    await expect(remove("old")).rejects.toThrow("not empty");
    await expect(remove("kept")).rejects.toThrow("not supported by quorum queues");
    await channel.purgeQueue("old");
    await remove("old");
    expect((await management.queues(vhost)).map(({ name }) => name)).toEqual(["kept"]);
  });
});
