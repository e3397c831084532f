import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { consume } from "../../src/consume/index.ts";
import * as dead from "../../src/dead-letters/index.ts";
import { deploy, until } from "../support/deployed-system.ts";
import { drive } from "../support/drive.ts";
import { checked } from "../support/examples.ts";
import { strategyCases } from "../support/live.ts";
import { strategiesOn } from "../support/strategies.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const consumers = ["billing", "audit", "mail"] as const;

test.for(strategyCases(strategiesOn))(
  "$name: consumers that fail at once share a dead queue, and each has its own letters sent again",
  { timeout: 240_000 },
  async ({ broker, strategy }) => {
    const consumer = {
      from: { orders: "all" },
      protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
      retry: { attempts: 2, backoff: { kind: "constant", delay: "300ms" } },
    };
    const declared = checked({
      name: "shop",
      sources: { orders: { kind: "topic" } },
      consumers: Object.fromEntries(consumers.map((name) => [name, consumer])),
    });
    const more = { deadQueue: "shared" } as const;
    const system = await deploy(broker, declared, strategy, undefined, more);
    onTestFinished(system.dispose);
    const { channel, url, publish, count } = system;
    const endings = { billing: "permanent", audit: "transient", mail: "crash" } as const;
    const driven = [];
    for (const name of consumers)
      driven.push(await drive({ url, contract: system.contract(name), decide: () => endings[name] }));
    await publish(Array.from({ length: 20 }, (_, index) => `m${index}`));
    // A publisher that names the queue of another consumer, and a letter that nobody knows the consumer of.
    const forged = { messageId: "forged", headers: { "dlq-original-queue": "shop.audit" } };
    channel.publish("shop.orders", "order.placed", Buffer.from("{}"), forged);
    channel.sendToQueue("shop.dead", Buffer.from("{}"), { messageId: "stray" });
    // Before its adoption another exchange led into the dead queue. A key there may be the name of another work queue.
    await channel.assertExchange("old.dlx", "fanout");
    await channel.bindQueue("shop.dead", "old.dlx", "");
    channel.publish("old.dlx", "shop.audit", Buffer.from("{}"), { messageId: "old" });
    const before = { deadLetterExchange: "old.dlx", messageTtl: 1 };
    await channel.assertQueue("old.work", before);
    channel.sendToQueue("old.work", Buffer.from("{}"), { messageId: "older" });
    await channel.waitForConfirms();
    await until(60_000, async () => (await count("shop.dead")) === 3 * 21 + 3);
    for (const each of driven) await each.stop();

    const target = { broker: "rabbitmq", version: broker.version, strategy, ...more } as const;
    const connection = { url, managementUrl: broker.managementUrl };
    const running = await consume(declared, "billing", { target, connection }, () => undefined);
    await running.stop();
    const folder = temporaryFolder("shared", onTestFinished);
    const journal = await dead.openJournal(join(folder, "journal.sqlite"));
    onTestFinished(journal.close);
    // The lock of a queue is that of the connection.
    const asked = async <Result>(
      consumer: string,
      work: (desk: dead.Desk) => Promise<Result>,
      also: { readonly earlier?: string; readonly failedIn?: string } = {},
    ): Promise<Result> => {
      const opened = await dead.openDeadQueue({ system: declared, consumer, target, connection, ...also });
      return work({ dead: opened, journal }).finally(opened.letters.close);
    };
    const lettersOf = (consumer: string) =>
      asked(consumer, async (desk) => (await dead.groupLetters(desk.dead, {})).matched);
    for (const name of consumers) expect(await lettersOf(name)).toBe(21);
    // The commands send letters by AMQP 0-9-1.
    if (strategy === "deferred") return;
    const plan = { letters: 20, targets: [{ queue: "shop.mail", letters: 20 }], stay: { "from another queue": 1 } };
    expect(await asked("mail", (desk) => dead.planLetters(desk.dead, {}))).toMatchObject(plan);
    const { id } = await asked("mail", (desk) => dead.redriveLetters(desk, { confirm: 20, waitMs: 0 }));
    const others = async () => [await count("shop.billing"), await count("shop.audit"), await count("shop.dead")];
    expect([await count("shop.mail"), ...(await others())]).toEqual([20, 0, 0, 46]);
    expect(await dead.redriveIn(journal, id)).toMatchObject({ redrive: { state: "done", sent: 20 } });
    const order = { why: "no longer wanted", backup: join(folder, "audit.ndjson"), confirm: 21 };
    expect(await asked("audit", (desk) => dead.discardLetters(desk, order))).toMatchObject({ taken: { done: 21 } });
    expect(await others()).toEqual([0, 0, 25]);
    expect(await lettersOf("billing")).toBe(21);

    // The queue of the old code is gone. Its letters go to one consumer, and neither those of others nor stray ones do.
    await channel.deleteQueue("old.work");
    const old = { earlier: "shop.dead", failedIn: "old.work" };
    const there = await asked("mail", async (desk) => (await dead.groupLetters(desk.dead, {})).matched, old);
    expect(there).toBe(1);
    const way = { letters: 1, targets: [{ queue: "shop.mail", letters: 1 }], stay: {} };
    expect(await asked("mail", (desk) => dead.planLetters(desk.dead, {}), old)).toMatchObject(way);
    await asked("mail", (desk) => dead.redriveLetters(desk, { confirm: 1, waitMs: 0 }), old);
    expect([await count("shop.mail"), ...(await others())]).toEqual([21, 0, 0, 24]);
  },
);
