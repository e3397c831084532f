import { connect } from "amqplib";
import { describe, expect, onTestFinished, test } from "vitest";
import { startBroker } from "../support/broker-containers.ts";
import { brokerVersions, docker } from "../support/broker-images.ts";
import { type Broker, brokers, createVhost, restartBroker } from "../support/live.ts";
import { createManagement, ManagementError } from "../support/management.ts";

async function publishConfirmed(amqpUrl: string, queue: string, text: string): Promise<void> {
  const connection = await connect(amqpUrl);
  const channel = await connection.createConfirmChannel();
  channel.sendToQueue(queue, Buffer.from(text), { persistent: true });
  await channel.waitForConfirms();
  await connection.close();
}

async function declareQuorumQueue(broker: Broker, vhost: string, name: string): Promise<void> {
  await createManagement(broker.managementUrl).declareQueue(vhost, name, {
    durable: true,
    auto_delete: false,
    arguments: { "x-queue-type": "quorum" },
  });
}

describe.each(brokers())("RabbitMQ $fullVersion", (broker) => {
  const management = createManagement(broker.managementUrl);

  test("is the requested version", async () => {
    const { rabbitmq_version: fullVersion } = await management.overview();
    expect(fullVersion).toBe(broker.fullVersion);
    expect(fullVersion.startsWith(`${broker.version}.`)).toBe(true);
  });

  test("gives a test a virtual host, and deletes it afterwards", async () => {
    const { vhost, amqpUrl, dispose } = await createVhost(broker);
    await declareQuorumQueue(broker, vhost, "inbox");
    await publishConfirmed(amqpUrl, "inbox", "hello");
    const messages = await management.getMessages(vhost, "inbox", 1, "ack_requeue_false");
    expect(messages).toMatchObject([{ payload: "hello", routing_key: "inbox", redelivered: false }]);
    expect(await management.queue(vhost, "inbox")).toMatchObject({
      name: "inbox",
      type: "quorum",
      arguments: { "x-queue-type": "quorum" },
    });
    await dispose();
    await expect(management.exportDefinitions(vhost)).rejects.toThrow(ManagementError);
  });

  test("exports the declared resources, and imports them elsewhere", async () => {
    const original = await createVhost(broker);
    onTestFinished(original.dispose);
    const copy = await createVhost(broker);
    onTestFinished(copy.dispose);
    await declareQuorumQueue(broker, original.vhost, "inbox");
    await management.declareExchange(original.vhost, "events", { type: "topic", durable: true });
    await management.bind(original.vhost, {
      source: "events",
      destination: "inbox",
      destinationType: "queue",
      routingKey: "order.*",
    });
    await management.putPolicy(original.vhost, "limit", {
      pattern: "^inbox$",
      "apply-to": "queues",
      definition: { "delivery-limit": 3 },
    });
    await management.importDefinitions(await management.exportDefinitions(original.vhost), copy.vhost);
    expect(await management.exportDefinitions(copy.vhost)).toMatchObject({
      queues: [{ name: "inbox", arguments: { "x-queue-type": "quorum" } }],
      exchanges: [{ name: "events", type: "topic" }],
      bindings: [{ source: "events", destination: "inbox", routing_key: "order.*" }],
    });
    expect(await management.policies(copy.vhost)).toMatchObject([
      { name: "limit", pattern: "^inbox$", definition: { "delivery-limit": 3 } },
    ]);
  });

  test("explains a refusal in its own words", async () => {
    const { vhost, dispose } = await createVhost(broker);
    onTestFinished(dispose);
    const refusal = management.putPolicy(vhost, "limit", { pattern: ".*", definition: { "delivery-limit": "three" } });
    await expect(refusal).rejects.toMatchObject({ status: 400, reason: expect.stringContaining("three") });
  });
});

// These tests start their own brokers: a restart would cut the connections of test files that run at the same time.
describe.each(
  brokerVersions.filter((version) =>
    brokers().some((broker) => broker.version === version && broker.containerId !== undefined),
  ),
)("RabbitMQ %s, restarted", (version) => {
  test("keeps a confirmed message, at the same address", async () => {
    const { broker, stop } = await startBroker(version);
    onTestFinished(stop);
    const { vhost, amqpUrl } = await createVhost(broker);
    await declareQuorumQueue(broker, vhost, "inbox");
    await publishConfirmed(amqpUrl, "inbox", "kept");
    const startedAt = async (): Promise<string> =>
      docker("inspect", "--format", "{{.State.StartedAt}}", broker.containerId);
    const startedAtFirst = await startedAt();
    await restartBroker(broker);
    expect(await startedAt()).not.toBe(startedAtFirst);
    const messages = await createManagement(broker.managementUrl).getMessages(vhost, "inbox", 10, "ack_requeue_false");
    expect(messages).toMatchObject([{ payload: "kept" }]);
  });
});
