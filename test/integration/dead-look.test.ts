import amqplib from "amqplib";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import { operating } from "../../src/brokers/rabbitmq/operate/index.ts";
import type { LetterFacts } from "../../src/operate/facts.ts";
import { brokers as compilers, type DiagnosticCode, RefusedError } from "../../src/index.ts";
import { docker } from "../support/broker-images.ts";
import { byQueue } from "../support/dead-command.ts";
import { deadQueue, fill, idsOf, stage } from "../support/dead-stage.ts";
import { until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { createLimitedUser, type Rights } from "../support/limited-user.ts";
import { runCommand } from "../support/run-command.ts";
import { exportedIn } from "../support/exported-letters.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function refusalOf(work: Promise<unknown>): Promise<readonly DiagnosticCode[]> {
  const cause = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return cause instanceof RefusedError ? cause.diagnostics.map(({ code }) => code) : [];
}

describe.for(brokers())("a look at dead letters on RabbitMQ $version", (broker) => {
  test("keeps their order, however often and however many are looked at", async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 300);
    // More looks than the default delivery limit has, the first ones at the head alone.
    for (let round = 0; round < 25; round++) {
      const wanted = [1, 7, 299, 300, 150][round % 5] ?? 1;
      const seen: string[] = [];
      const looked = await system.letters.look(deadQueue, ({ properties }) => {
        seen.push(String(properties["messageId"]));
        return seen.length < wanted;
      });
      expect(looked).toEqual({ ready: 300, consumers: 0, seen: wanted, isWhole: true });
      expect(seen).toEqual(ids.slice(0, wanted));
    }
    expect(idsOf(await system.drain(deadQueue))).toEqual(ids);
  });

  test("keeps their order if the visitor throws, and throws its error", async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 50);
    const error = new Error("the visitor's own");
    for (const at of [1, 20, 50]) {
      const look = system.letters.look(deadQueue, ({ position }) => {
        if (position === at) throw error;
        return true;
      });
      await expect(look).rejects.toBe(error);
    }
    expect(idsOf(await system.drain(deadQueue))).toEqual(ids);
  });

  test("is refused where a delivery limit is in force, or is unknown", async () => {
    const system = await stage(broker);
    const { channel, letters, vhost } = system;
    const quorum = (name: string, given: object = {}): Promise<unknown> =>
      channel.assertQueue(name, { arguments: { "x-queue-type": "quorum", ...given } });
    const isOld = broker.version.startsWith("3.");
    await quorum("by-default");
    await quorum("by-argument", { "x-delivery-limit": 5 });
    await quorum("by-policy", isOld ? {} : { "x-delivery-limit": -1 });
    await createManagement(broker.managementUrl).putPolicy(vhost, "limits", {
      pattern: "^by-policy$",
      "apply-to": "queues",
      definition: { "delivery-limit": 4 },
    });
    for (const queue of ["by-default", "by-argument", "by-policy"]) await fill(system, queue, 2);
    const refused = async (queue: string): Promise<readonly string[]> => refusalOf(letters.look(queue, () => true));
    await until(30_000, async () => (await refused("by-policy")).length > 0);
    expect(await refused("by-policy")).toEqual(["RD841"]);
    expect(await refused("by-argument")).toEqual(["RD841"]);
    expect(await refused("by-default")).toEqual(isOld ? [] : ["RD841"]);
    expect(await refused("nowhere")).toEqual(["RD805"]);
    const blind = await operating.connect({ url: system.url, managementUrl: undefined, place: null });
    onTestFinished(blind.close);
    expect(await refusalOf(blind.look(deadQueue, () => true))).toEqual(["RD841"]);
    const elsewhere = await operating.connect({ url: system.url, managementUrl: "http://127.0.0.1:9", place: null });
    onTestFinished(elsewhere.close);
    expect(await refusalOf(elsewhere.look(deadQueue, () => true))).toEqual(["RD841"]);
  });

  test("takes exactly the permissions that the page names", async () => {
    const system = await stage(broker);
    await fill(system, deadQueue, 3);
    const enough = compilers.rabbitmq.permissions.toOperate(system.contract("billing"));
    const lookAs = async (rights: Rights): Promise<readonly DiagnosticCode[]> => {
      const user = await createLimitedUser(broker, system.vhost, rights);
      onTestFinished(user.remove);
      const letters = await operating.connect({
        url: user.amqpUrl,
        managementUrl: user.broker.managementUrl,
        place: null,
      });
      onTestFinished(letters.close);
      return refusalOf(letters.look(deadQueue, () => true));
    };
    expect(await lookAs(enough)).toEqual([]);
    expect(await lookAs({ ...enough, tag: null })).toEqual(["RD841"]);
    expect(await lookAs({ ...enough, read: "^$" })).toEqual(["RD807"]);
  });

  test("does not wait for letters that others hold", async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 40);
    const holder = await amqplib.connect(system.url);
    onTestFinished(async () => holder.close());
    const channel = await holder.createChannel();
    await channel.prefetch(10);
    let held = 0;
    await channel.consume(deadQueue, () => void held++);
    await until(30_000, () => held === 10);
    const seen: unknown[] = [];
    const looked = await system.letters.look(deadQueue, ({ properties }) => seen.push(properties["messageId"]) > 0);
    expect([looked, seen]).toEqual([{ ready: 30, consumers: 1, seen: 30, isWhole: true }, ids.slice(10)]);
  });

  test.skipIf(broker.containerId === undefined)("sees them if a busy broker says that there are none", async () => {
    const system = await stage(broker);
    await fill(system, deadQueue, 20);
    const seesAll = async (): Promise<void> => {
      const looked = await system.letters.look(deadQueue, () => true);
      expect(looked).toEqual({ ready: 20, consumers: 0, seen: 20, isWhole: true });
    };
    // The first look waits for the statistics of a new queue.
    await seesAll();
    const connection = await amqplib.connect(system.url);
    onTestFinished(async () => connection.close());
    const channel = await connection.createChannel();
    const silence = `[begin {Leader, _} = amqqueue:get_pid(Q), sys:suspend(Leader), timer:sleep(2000), sys:resume(Leader) end
      || Q <- rabbit_amqqueue:list(<<"${system.vhost}">>), element(4, amqqueue:get_name(Q)) =:= <<"${deadQueue}">>].`;
    const silenced = docker("exec", String(broker.containerId), "rabbitmqctl", "eval", silence);
    await until(60_000, async () => (await channel.checkQueue(deadQueue)).messageCount === 0);
    await seesAll();
    await silenced;
  });

  test("by the command line lists, groups, shows and exports, and prints no password", async () => {
    const system = await stage(broker);
    const ids = await fill(system, "shop.billing.dead", 60);
    const asText = (command: string, ...words: readonly string[]): string[] =>
      byQueue(system, command, ...words).filter((word) => word !== "--json");
    const groups = await runCommand(byQueue(system, "groups"));
    expect([groups.code, groups.error]).toEqual([0, expect.not.stringContaining("error")]);
    expect(JSON.parse(groups.out)).toMatchObject({
      ready: 60,
      seen: 60,
      isWhole: true,
      groups: [
        { reason: "ODD", count: 30, sample: "m1" },
        { reason: "EVEN", count: 30, sample: "m2" },
      ],
      others: 0,
    });
    const list = await runCommand(byQueue(system, "list", "--reason", "EVEN", "--limit", "3"));
    const { letters } = JSON.parse(list.out) as { readonly letters: readonly LetterFacts[] };
    expect(letters.map(({ messageId }) => messageId)).toEqual(["m2", "m4", "m6"]);
    const show = await runCommand(asText("show", "--id", "m7"));
    expect([show.code, show.out]).toEqual([0, expect.stringContaining('{"id":"m7"}')]);
    const output = join(temporaryFolder("dead", onTestFinished), "dead.ndjson");
    const exported = await runCommand(asText("export", "--output", output));
    expect([exported.code, exported.error]).toEqual([0, expect.not.stringContaining("error")]);
    const read = exportedIn(output);
    const exportedIds = read.exported.map(({ letter }) => letter.properties["messageId"]);
    expect([read.problem, exportedIds]).toEqual([null, ids]);
    expect((await runCommand(asText("export", "--output", output))).code).toBe(2);
    const words = `dead list --queue ${deadQueue} --management-url ${broker.managementUrl} --url`.split(" ");
    const wrong = await runCommand([...words, system.url.replace("guest:guest", "guest:hunter2")]);
    expect([wrong.code, wrong.error]).toEqual([1, expect.stringContaining("RD807")]);
    for (const said of [groups, list, show, exported, wrong])
      expect(`${said.out}${said.error}`).not.toMatch(/hunter2|guest:guest/);
    expect(idsOf(await system.drain(deadQueue))).toEqual(ids);
  });
});
