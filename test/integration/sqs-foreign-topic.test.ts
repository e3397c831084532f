import { randomUUID } from "node:crypto";

import { CreateTopicCommand, DeleteTopicCommand, GetTopicAttributesCommand, PublishCommand } from "@aws-sdk/client-sns";
import { describe, expect, test } from "vitest";

import { routingKeyAttribute } from "../../src/brokers/sqs/compile/filter.ts";
import { attributes, deploy } from "../support/sqs/deployed-system.ts";
import { consuming, untilCount } from "../support/sqs/consuming.ts";
import { createLab } from "../support/sqs/lab.ts";
import { gapOf } from "../support/sqs/known-gaps.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

// Another team made the topic. Two systems subscribe to it and do not know each other.

const common = { handlerTimeout: "2s", retry: { attempts: 2, backoff: { kind: "constant", delay: "1s" } } };

const withSns = sqsEmulators().filter(({ name }) => gapOf("topic-reaches-all", name) === undefined);

describe.for(withSns)("a topic of another team on $name", (emulator) => {
  test.for(["", ".fifo"])("serves two systems that do not know each other%s", async (suffix, { onTestFinished }) => {
    const lab = createLab(emulator);
    onTestFinished(lab.dispose);
    const Attributes: Record<string, string> = suffix === "" ? {} : { FifoTopic: "true" };
    const topic = { Name: `events-${randomUUID().slice(0, 8)}${suffix}`, Attributes };
    const { TopicArn = "" } = await lab.sns.send(new CreateTopicCommand(topic));
    onTestFinished(async () => void (await lab.sns.send(new DeleteTopicCommand({ TopicArn }))));
    const settings = async (): Promise<unknown> => {
      const { Attributes: told = {} } = await lab.sns.send(new GetTopicAttributesCommand({ TopicArn }));
      return Object.fromEntries(Object.entries(told).filter(([name]) => !name.startsWith("Subscriptions")));
    };
    const before = await settings();

    const source = { kind: "topic", name: TopicArn, owner: "other" } as const;
    const order = suffix === "" ? {} : { order: "per-key" };
    const shop = await deploy(emulator, { billing: { ...common, ...order, from: { orders: "all" } } }, "auto", source);
    onTestFinished(shop.dispose);
    const keys = ["order.placed"];
    const store = await deploy(emulator, { ledger: { ...common, ...order, from: { orders: keys } } }, "auto", source);
    onTestFinished(store.dispose);
    const files = { ...source, kind: "headers" } as const;
    const matches = ["small", "large"].map((size) => ({ match: "all", headers: { type: "invoice", size } }));
    const archive = await deploy(
      emulator,
      { archive: { ...common, ...order, from: { orders: matches } } },
      "auto",
      files,
    );
    onTestFinished(archive.dispose);
    const filterPolicy = { type: [{ prefix: "inv" }], size: [{ "anything-but": ["huge"] }] };
    const audit = await deploy(
      emulator,
      { audit: { ...common, ...order, from: { orders: { filterPolicy } } } },
      "auto",
      { ...source, kind: "opaque" },
    );
    onTestFinished(audit.dispose);
    for (const { applied } of [shop, store, archive, audit]) expect([...applied.topics]).toEqual([]);

    const publish = async (body: string, routingKey: string, more: Record<string, string> = {}): Promise<void> => {
      const group = suffix === "" ? {} : { MessageGroupId: "customer-1", MessageDeduplicationId: body };
      const MessageAttributes = attributes({ [routingKeyAttribute]: routingKey, ...more });
      await lab.sns.send(new PublishCommand({ TopicArn, Message: body, MessageAttributes, ...group }));
    };
    await publish("placed", "order.placed", { type: "invoice", size: "large" });
    await publish("cancelled", "order.cancelled", { type: "invoice", size: "huge" });
    const failing = (): never => {
      throw new Error("the bank is down");
    };
    const billing = await consuming(shop, "billing", failing);
    onTestFinished(async () => billing.stop());
    const ledger = await consuming(store, "ledger", failing);
    onTestFinished(async () => ledger.stop());
    const archived = await consuming(archive, "archive", failing);
    onTestFinished(async () => archived.stop());
    const audited = await consuming(audit, "audit", failing);
    onTestFinished(async () => audited.stop());
    await untilCount(archive, "dead", "archive", 1);
    await untilCount(audit, "dead", "audit", 1);
    await untilCount(shop, "dead", "billing", 2);
    await untilCount(store, "dead", "ledger", 1);
    expect(billing.attemptsOf("placed")).toEqual([1, 2]);
    expect(billing.attemptsOf("cancelled")).toEqual([1, 2]);
    expect(ledger.runs.map(({ body }) => body)).toEqual(["placed", "placed"]);
    expect(archived.runs.map(({ body }) => body)).toEqual(["placed", "placed"]);
    expect(audited.runs.map(({ body }) => body)).toEqual(["placed", "placed"]);
    expect(await settings()).toEqual(before);
  });
});

test("an emulator with topics runs", () => expect(withSns).not.toEqual([]));
