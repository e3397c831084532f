import { describe, expect, onTestFinished, test } from "vitest";

import type { RedrivePlan } from "../../src/operate/plan.ts";
import type { RedriveResult } from "../../src/operate/redrive.ts";
import { openDeadQueue, planLetters } from "../../src/dead-letters/index.ts";
import { ownJournal } from "../support/dead-journal.ts";
import { deadQueue, fill, idsOf, shop, stage, workQueue } from "../support/dead-stage.ts";
import { type DeployedSystem, sleep, until } from "../support/deployed-system.ts";
import { checked } from "../support/examples.ts";
import { drive } from "../support/drive.ts";
import { type Answer, answerOf, runCommand } from "../support/run-command.ts";
import { brokers } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { ask, askDeclared, at } from "../support/dead-command.ts";

/** The most letters that one lost connection may double. */
const windowLetters = 100;

ownJournal();

type Redriven = RedriveResult & { readonly id: string; readonly plan: RedrivePlan };

const planned = async (system: DeployedSystem, ...words: readonly string[]): Promise<Answer<RedrivePlan>> =>
  ask(system, "plan", ...words);

const redriven = async (system: DeployedSystem, ...words: readonly string[]): Promise<Answer<Redriven>> =>
  ask(system, "redrive", ...words);

describe.for(brokers())("a redrive on RabbitMQ $version", { timeout: 300_000 }, (broker) => {
  test("sends the chosen half to the work queue alone, and leaves the other half in order", async () => {
    const system = await stage(broker);
    // More letters stay than one channel holds.
    const ids = await fill(system, deadQueue, 2_400);
    const even = ids.filter((_, index) => index % 2 === 1);
    const plan = await planned(system, "--reason", "EVEN");
    expect(plan).toMatchObject({
      code: 0,
      frozen: 2_400,
      letters: 1_200,
      targets: [{ queue: workQueue, letters: 1_200, consumers: 0 }],
      stay: { "not chosen": 1_200 },
      steps: [1, 10, 100, 1_000, 89],
    });
    expect(await system.count(workQueue)).toBe(0);
    const refused = await redriven(system, "--reason", "EVEN", "--confirm", "1199");
    expect(refused).toMatchObject({ code: 1, diagnostics: [{ code: "RD811" }] });
    expect(await system.count(workQueue)).toBe(0);

    const result = await redriven(system, "--reason", "EVEN", "--confirm", "1200", "--wait", "1ms");
    const done = { code: 0, sent: 1_200, diedAgain: 0, mayBeDoubled: 0, stopped: null, plan: { letters: 1_200 } };
    expect(result).toMatchObject(done);
    const sent = await system.drain(workQueue);
    expect(idsOf(sent)).toEqual(even);
    expect(await system.count("shop.audit")).toBe(0);
    const [first] = sent;
    // Up to 3.11 the broker writes a count of 0 by itself.
    const { "redeliver-history": history, "x-delivery-count": count = 0, ...headers } = first?.properties.headers ?? {};
    expect([count, headers]).toEqual([0, { tenant: "acme", share: 0.5 }]);
    expect(JSON.parse(String(history))).toEqual([
      {
        generation: 1,
        redrive: result.id,
        at: expect.any(String),
        reason: "EVEN",
        routingKey: deadQueue,
        position: 2,
        letter: expect.stringMatching(/^[\da-f]{1,16}$/),
      },
    ]);
    expect(first?.properties.deliveryMode).toBe(2);
    expect(idsOf(await system.drain(deadQueue))).toEqual(ids.filter((_, index) => index % 2 === 0));
  });

  test("stops by itself when a poisoned letter dies again, and a capped letter stays", async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 30);
    const consumer = await drive({ url: system.url, contract: system.contract("billing"), decide: () => "permanent" });
    let id = "";
    for (let generation = 1; generation <= 2; generation++) {
      const stopped = await redriven(system, "--confirm", "30", "--wait", "10s");
      ({ id } = stopped);
      expect(stopped).toMatchObject({
        code: 3,
        sent: 1,
        diedAgain: 1,
        stopped: expect.stringMatching(/^1 of 1 letters have died again, 1 of them of the group [\da-f]{8}: ./),
      });
    }
    await consumer.stop();
    // A letter that dies while the others are away comes back before or behind them. So the second may be the first again.
    const sent = new Set(consumer.seen.map(({ id }) => id));
    expect(consumer.seen).toHaveLength(2);
    expect(await planned(system, "--generations", "1")).toMatchObject({
      code: 0,
      letters: 30 - sent.size,
      stay: { "sent too often": sent.size },
    });
    const left = idsOf(await system.drain(deadQueue));
    expect(left.filter((id) => !sent.has(id))).toEqual(ids.filter((id) => !sent.has(id)));
    expect(left.toSorted()).toEqual(ids.toSorted());
    await system.channel.deleteQueue(deadQueue);
    const resumed = await answerOf(runCommand(["dead", "resume", id, ...at(system)]));
    expect(resumed).toMatchObject({ code: 1, diagnostics: [{ code: "RD805", path: deadQueue }] });
  });

  test("works beside a consumer, and refuses a queue that is consumed", async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 300);
    const contract = system.contract("billing");
    const consumer = await drive({ url: system.url, contract, decide: () => "success", instances: 5 });
    const said = await redriven(system, "--confirm", "300", "--wait", "200ms");
    expect(said).toMatchObject({ code: 0, sent: 300, diedAgain: 0, stopped: null });
    await until(60_000, () => consumer.seen.length >= 300);
    expect(consumer.seen.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(new Set(consumer.seen.map(({ attempt }) => attempt))).toEqual(new Set([1]));
    await consumer.stop();
    await fill(system, deadQueue, 1);
    const { consumerTag } = await system.channel.consume(deadQueue, () => undefined);
    expect(await redriven(system)).toMatchObject({ code: 1, diagnostics: [{ code: "RD812" }] });
    await system.channel.cancel(consumerTag);
  });

  test("sends the letters of an earlier dead queue to the consumer that has them now, and sees them die", async () => {
    const system = await stage(broker);
    const { channel } = system;
    await channel.assertQueue("old.dlq", { durable: true });
    const named = (queue: string) => ({ headers: { "dlq-original-queue": queue } });
    await fill(system, "old.dlq", 4, 1, named("old"));
    await fill(system, "old.dlq", 1, 5, named("shop.audit"));
    await fill(system, "old.dlq", 1, 6, named("older"));
    const send = async (...words: readonly string[]) =>
      askDeclared<Redriven>(system, "redrive", "--queue=old.dlq", ...words);
    const several = { code: 2, usage: expect.stringContaining("letters that name old, older") };
    expect(await send()).toMatchObject(several);
    expect(await send("--failed-in=old")).toMatchObject({
      letters: 4,
      targets: [{ queue: workQueue, letters: 4 }],
      stay: { "not chosen": 2 },
    });
    expect(await send("--failed-in=shop.audit")).toMatchObject({ letters: 0, stay: { "from another queue": 1 } });
    const consumer = await drive({ url: system.url, contract: system.contract("billing"), decide: () => "permanent" });
    const words = ["--failed-in=old", "--confirm=4", "--wait=10s"];
    expect(await send(...words)).toMatchObject({ code: 3, sent: 1, diedAgain: 1 });
    await consumer.stop();
    expect([await system.count(deadQueue), await system.count("old.dlq"), consumer.seen.length]).toEqual([1, 5, 1]);
    // Its own dead queue may have such letters, too. They go only if a person says so.
    await fill(system, deadQueue, 2, 7, named("old"));
    expect(await askDeclared(system, "plan")).toMatchObject({ letters: 1, stay: { "from another queue": 2 } });
    expect(await askDeclared(system, "plan", `--queue=${deadQueue}`)).toMatchObject({ letters: 3, stay: {} });
    const { version, managementUrl } = broker;
    const dead = await openDeadQueue({
      system: checked(shop),
      consumer: "billing",
      target: { broker: "rabbitmq", version, strategy: "waits" },
      earlier: "old.dlq",
      connection: { url: system.url, managementUrl },
    });
    onTestFinished(dead.letters.close);
    expect(await planLetters(dead, { filter: { failedIn: "old" } })).toMatchObject({ letters: 3 });
  });

  test("plans nothing for a queue that is gone", async () => {
    const system = await stage(broker);
    await fill(system, deadQueue, 20);
    await system.channel.deleteQueue(workQueue);
    expect(await planned(system)).toMatchObject({ code: 0, letters: 0, stay: { "queue gone": 20 } });
  });

  test("survives lost connections: nothing is lost, and the doubled are counted", async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 400);
    const management = createManagement(broker.managementUrl);
    const connectionsHere = async (): Promise<readonly string[]> => {
      const all = await management.get<readonly { readonly name: string; readonly vhost: string }[]>("connections");
      return all.flatMap(({ name, vhost }) => (vhost === system.vhost ? [name] : []));
    };
    // The test's own two.
    await until(60_000, async () => (await connectionsHere()).length === 2);
    const own = new Set(await connectionsHere());
    const running = redriven(system, "--confirm", "400", "--rate", "40", "--wait", "1ms");
    let isOver = false;
    void running.finally(() => {
      isOver = true;
    });
    let cuts = 0;
    while (cuts < 4 && !isOver) {
      if ((await system.count(workQueue)) > 80 * cuts)
        for (const name of await connectionsHere()) {
          if (own.has(name)) continue;
          const path = `connections/${encodeURIComponent(name)}`;
          cuts += await management.delete(path).then(
            () => 1,
            () => 0,
          );
        }
      await sleep(200);
    }
    const result = await running;
    const sent = idsOf(await system.drain(workQueue));
    const left = idsOf(await system.drain(deadQueue));
    expect(new Set([...sent, ...left])).toEqual(new Set(ids));
    expect(sent.length + left.length - ids.length).toBeLessThanOrEqual(result.mayBeDoubled);
    expect(result.mayBeDoubled).toBeLessThanOrEqual(cuts * windowLetters);
    expect([left.length, result.sent, result.stopped]).toEqual([0, 400, null]);
    expect(cuts).toBeGreaterThan(1);
  });
});
