import { connect } from "amqplib";
import { expect, inject, test } from "vitest";

import { createVhost } from "../support/live.ts";
import { createManagement } from "../support/management.ts";

// `diff` judges an internal exchange by these two facts.

test.for(inject("brokers"))(
  "$version: an internal exchange takes dead letters alone",
  async (broker, { onTestFinished }) => {
    const { vhost, amqpUrl, dispose } = await createVhost(broker);
    onTestFinished(dispose);
    const management = createManagement(broker.managementUrl);
    await management.declareExchange(vhost, "inner", { type: "fanout", durable: true, internal: true, arguments: {} });
    const connection = await connect(amqpUrl);
    onTestFinished(() => connection.close());
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue("out", { durable: true });
    await channel.bindQueue("out", "inner", "");
    const expiring = { "x-message-ttl": 0, "x-dead-letter-exchange": "inner" };
    await channel.assertQueue("expiring", { durable: true, arguments: expiring });
    channel.sendToQueue("expiring", Buffer.from("a"), { persistent: true });
    await expect.poll(async () => (await channel.checkQueue("out")).messageCount, { timeout: 30_000 }).toBe(1);
    const answer = new Promise((done) => channel.on("error", done));
    channel.publish("inner", "", Buffer.from("b"));
    expect(await answer).toMatchObject({ code: 403 });
  },
);
