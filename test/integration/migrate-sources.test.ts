import { setTimeout as sleep } from "node:timers/promises";

import amqplib from "amqplib";
import { inject, test } from "vitest";

import { stageMigration } from "../support/change/migration-stage.ts";

// A source of another kind on a live broker, by `migrate --apply`. Publishers move while consumers take from both.

const consumer = (own: object): object => ({
  from: { orders: ["order.placed"] },
  retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } },
  ...own,
});
const declaration = ({ kind = "topic" }: { readonly kind?: string }): object => ({
  name: "shop",
  sources: { orders: { kind } },
  consumers: { billing: consumer({}), mail: consumer({}) },
});

test.concurrent.for(inject("brokers"))(
  "on RabbitMQ $fullVersion publishers leave a source of another kind, and its messages reach the same queues",
  { timeout: 600_000 },
  async (broker, { expect, onTestFinished }) => {
    const { vhost, url, management, declare, redeliver, remove } = await stageMigration(broker, declaration);
    const connection = await amqplib.connect(url);
    onTestFinished(async () => {
      await connection.close();
      await remove();
    });
    const channel = await connection.createConfirmChannel();
    const returned: string[] = [];
    channel.on("return", ({ fields: { exchange } }: amqplib.Message) => returned.push(exchange));
    let published = 0;
    const publish = async (exchange: string): Promise<void> => {
      channel.publish(exchange, "order.placed", Buffer.from("an order"), { persistent: true, mandatory: true });
      published += 1;
      await channel.waitForConfirms();
    };
    const waysFrom = async (source: string): Promise<readonly string[]> => {
      const path = `exchanges/${encodeURIComponent(vhost)}/${source}/bindings/source`;
      const all = await management.get<readonly { destination: string }[]>(path);
      return all.map(({ destination }) => destination).toSorted();
    };
    const [both, none] = [["shop.billing", "shop.mail"], []];
    const apply = async (...words: readonly string[]) => redeliver("migrate", "--apply", ...words);
    const moved = "--publishers-moved";
    await publish("shop.orders");
    declare({ kind: "direct" });

    // Nobody can know that publishers have moved to a source that is only made now.
    const asked = await apply(moved, "--wait", "1m");
    expect(asked, asked.error).toMatchObject({ code: 3 });
    expect(asked.out).toContain("programs may still publish to shop.orders");
    expect([await waysFrom("shop.orders"), await waysFrom("shop.orders.2")]).toEqual([both, both]);
    await publish("shop.orders.2");
    expect(await apply("--wait", "1m")).toMatchObject({ code: 3 });

    // Somebody said so, and one of them has not. The broker reports its counts every five seconds.
    const late = setInterval(() => void publish("shop.orders"), 200);
    try {
      const said = await apply(moved, "--wait", "8s");
      expect(said).toMatchObject({ code: 3, out: expect.stringContaining("a program still publishes to shop.orders") });
      expect(await waysFrom("shop.orders")).toEqual(both);
    } finally {
      clearInterval(late);
    }

    // Halfway the way back asks the same of the publishers who have moved.
    const back = await apply("--back");
    expect(back).toMatchObject({
      code: 3,
      out: expect.stringContaining("programs may still publish to shop.orders.2"),
    });
    for (let code = 3; code === 3;) ({ code } = await apply("--back", moved, "--wait", "1m"));
    expect([await waysFrom("shop.orders"), await waysFrom("shop.orders.2")]).toEqual([both, none]);
    await publish("shop.orders");

    for (let code = 3; code === 3; await sleep(100)) ({ code } = await apply(moved, "--wait", "1m"));
    expect(await waysFrom("shop.orders.2")).toEqual(both);
    expect(await waysFrom("shop.orders")).toEqual(none);
    expect(returned).toEqual([]);
    for (const queue of both) {
      const { messageCount } = await channel.checkQueue(queue);
      expect(messageCount, queue).toBe(published);
    }
  },
);
