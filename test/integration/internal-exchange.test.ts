import { connect } from "amqplib";
import { expect, inject, test } from "vitest";

import { topicIndex } from "../../src/brokers/rabbitmq/prove/topic-index.ts";
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

test.for(inject("brokers"))(
  "$version: the empty routing key has no word, so only # matches it",
  async (broker, { onTestFinished }) => {
    const { amqpUrl, dispose } = await createVhost(broker);
    onTestFinished(dispose);
    const connection = await connect(amqpUrl);
    onTestFinished(() => connection.close());
    const channel = await connection.createConfirmChannel();
    const patterns = ["*", "#", "", "*.#", "#.*", "*.*", "a.#", "."];
    const keys = ["", ".", "a.", "a"];
    for (const pattern of patterns) {
      await channel.assertQueue(`by ${pattern}`, { durable: true });
      await channel.bindQueue(`by ${pattern}`, "amq.topic", pattern);
    }
    for (const key of keys) channel.publish("amq.topic", key, Buffer.from(key));
    await channel.waitForConfirms();
    const { match } = topicIndex(patterns.map((pattern) => ({ pattern, item: pattern })));
    for (const pattern of patterns) {
      const { messageCount } = await channel.checkQueue(`by ${pattern}`);
      expect(messageCount, pattern).toBe(keys.filter((key) => match(key).includes(pattern)).length);
    }
  },
);
