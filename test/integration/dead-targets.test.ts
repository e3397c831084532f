import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";

import { brokers as compilers } from "../../src/index.ts";
import type { RedriveResult } from "../../src/operate/redrive.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { ask, byQueue } from "../support/dead-command.ts";
import { ownJournal, start } from "../support/dead-journal.ts";
import { deadQueue, fill, idsOf, stage, workQueue } from "../support/dead-stage.ts";
import { until } from "../support/deployed-system.ts";
import { createLimitedUser } from "../support/limited-user.ts";
import { brokers } from "../support/live.ts";
import { answerOf } from "../support/run-command.ts";

// The queue that letters are sent to does not take them, or somebody takes them from it at the same time.

ownJournal();

const to = (queue: string) => ({ headers: { "dlq-original-queue": queue } });

describe.for(brokers())("dead redrive on RabbitMQ $version", { timeout: 300_000 }, (broker) => {
  test("stops where the work queue is full, and the rest stays in order", async () => {
    const system = await stage(broker);
    await system.channel.assertQueue("full", {
      arguments: { "x-queue-type": "quorum", "x-max-length": 5, "x-overflow": "reject-publish" },
    });
    const ids = await fill(system, deadQueue, 400, 1, to("full"));
    const result = await ask<RedriveResult>(system, "redrive", "--wait=0s", "--confirm=400");
    expect(result).toMatchObject({ code: 3, stopped: "the queue full refuses letters", mayBeDoubled: 0 });
    const sent = idsOf(await system.drain("full"));
    const left = idsOf(await system.drain(deadQueue));
    expect([sent.length, left.length]).toEqual([result.sent, 400 - result.sent]);
    expect(new Set([...sent, ...left])).toEqual(new Set(ids));
    expect(left).toEqual(ids.filter((id) => left.includes(id)));
    expect(sent.length).toBeGreaterThan(0);
  });

  test("stops where somebody deletes the work queue meanwhile, and sends nothing into one that is gone", async () => {
    const system = await stage(broker);
    const { channel } = system;
    await channel.assertQueue("leaving", { arguments: { "x-queue-type": "quorum" } });
    const ids = await fill(system, deadQueue, 300, 1, to("leaving"));
    const perSecond = 30;
    const child = start(byQueue(system, "redrive", "--wait=0s", `--rate=${perSecond}`, "--confirm=300"));
    await until(60_000, async () => (await system.count("leaving")) > 10 || child.isOver());
    const taken = (await channel.deleteQueue("leaving")).messageCount;
    const result = await answerOf<RedriveResult>(child.ended);
    expect(result.code).toBe(3);
    // Up to 4.0 a queue that is about to go may end the sender's channel, and then a few letters go again.
    expect(result.mayBeDoubled).toBeLessThanOrEqual(broker.version === "4.3" ? 0 : perSecond);
    // A queue that is about to go refuses a letter that is already in its hands.
    expect(result.stopped).toMatch(/^the queue leaving (is gone|refuses letters)$/);
    // The broker may have confirmed some more before the queue was gone.
    expect(result.sent).toBeGreaterThanOrEqual(taken);
    expect(idsOf(await system.drain(deadQueue))).toEqual(ids.slice(result.sent));

    await fill(system, deadQueue, 20, 1, to("nowhere"));
    const refused = await ask(system, "redrive", "--confirm=20");
    expect(refused).toMatchObject({ code: 1, diagnostics: [{ code: "RD811" }] });
    expect(refused.text.match(/RD\d+/g)).toHaveLength(1);
    expect(await system.count(deadQueue)).toBe(20);
  });

  test("stops where the user may not write, and every letter stays in order", async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 40);
    const rights = compilers.rabbitmq.permissions.toOperate(system.contract("billing"));
    const user = await createLimitedUser(broker, system.vhost, { ...rights, write: "^$" });
    onTestFinished(user.remove);
    const limited = { broker: user.broker, url: user.amqpUrl };
    const said = await ask(limited, "redrive", "--wait=0s", "--confirm=40");
    const stopped = "this user may not write to the default exchange";
    expect(said).toMatchObject({ code: 3, sent: 0, mayBeDoubled: 0, stopped });
    expect(said.text).not.toContain("secret");
    expect(idsOf(await system.drain(deadQueue))).toEqual(ids);
  });
});

test("a consumer that works meanwhile handles each letter once", { timeout: 300_000 }, async () => {
  const [broker] = brokers();
  if (broker === undefined) throw new Error("no broker");
  const system = await stage(broker);
  const ids = await fill(system, deadQueue, 1_000);
  const handled: string[] = [];
  const consumed = await consumeFrom(
    { ...system, options: { schema: z.object({ id: z.string() }), breaker: false } },
    ({ id, attempt }) => void handled.push(`${id} ${attempt}`),
  );
  onTestFinished(async () => consumed.running.stop());
  const said = await ask(system, "redrive", "--wait=200ms", "--confirm=1000");
  expect(said).toMatchObject({ code: 0, sent: 1_000, diedAgain: 0, mayBeDoubled: 0, stopped: null });
  await until(60_000, () => handled.length >= 1_000);
  await consumed.running.stop();
  expect(handled.toSorted()).toEqual(ids.map((id) => `${id} 1`).toSorted());
  for (const queue of [deadQueue, workQueue]) expect([queue, await system.count(queue)]).toEqual([queue, 0]);
});
