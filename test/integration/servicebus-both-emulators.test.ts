import type { ServiceBusMessage, ServiceBusReceivedMessage } from "@azure/service-bus";
import { afterAll, beforeAll, describe, inject, test } from "vitest";

import { diagnoseEmulatorConfig } from "../../src/brokers/servicebus/export.ts";
import { applyToEmulator } from "../support/servicebus/apply.ts";
import { createAdministration, createClient } from "../support/servicebus/clients.ts";
import { type Decision, drive, type DrivenConsumer, type ServicebusContract } from "../support/servicebus/drive.ts";
import { type ServicebusEmulator, startEmulator } from "../support/servicebus/emulator/emulator.ts";
import { createReceiver } from "../support/servicebus/entity.ts";
import { portableCompiled, portableSystem, portableTarget } from "../support/servicebus/portable-system.ts";
import { registerServicebus } from "../support/servicebus/register.ts";

const official = inject("officialServicebus");
let own: ServicebusEmulator;

beforeAll(async () => {
  own = await startEmulator();
  const { resources } = await registerServicebus(portableSystem, portableTarget);
  await applyToEmulator(createAdministration(own), resources);
});
afterAll(async () => own.stop());

const always =
  (decision: Decision): (() => Decision) =>
  () =>
    decision;

function contractOf(consumer: string): ServicebusContract {
  const contract = portableCompiled.contracts.find((each) => each.consumer === consumer);
  if (contract === undefined) throw new Error(`no contract for ${consumer}`);
  return contract;
}

// Microsoft's is started with the configuration file that `compile --format emulator-config` writes, and only where it can run.
const emulators = [
  { name: "the emulator in the tests' process", connectionString: () => own.connectionString },
  ...(official === null ? [] : [{ name: "Microsoft's emulator", connectionString: () => official }]),
];

test("the configuration file is within the limits of Microsoft's emulator", ({ expect }) => {
  expect(diagnoseEmulatorConfig(portableCompiled).filter(({ severity }) => severity === "error")).toEqual([]);
});

describe.concurrent.each(emulators)("on $name", ({ connectionString }) => {
  type Finished = (end: () => Promise<void>) => void;
  const open = (finished: Finished) => {
    const client = createClient({ connectionString: connectionString() }, { retryOptions: { timeoutInMs: 10_000 } });
    finished(async () => client.close());
    return client;
  };
  const publish = async (finished: Finished, topic: string, ...messages: ServiceBusMessage[]): Promise<void> =>
    open(finished).createSender(topic).sendMessages(messages);
  const follow = (
    finished: Finished,
    consumer: string,
    decide: Parameters<typeof drive>[0]["decide"],
  ): DrivenConsumer => drive({ connect: () => open(finished), contract: contractOf(consumer), decide });
  const letters = async (finished: Finished, consumer: string): Promise<readonly ServiceBusReceivedMessage[]> =>
    createReceiver(open(finished), contractOf(consumer).deadQueue).peekMessages(10);

  test("immediate: three attempts, then MaxDeliveryCountExceeded", async ({ expect, onTestFinished }) => {
    await publish(onTestFinished, "shop.orders", { body: "1", messageId: "i1", subject: "immediate" });
    const consumer = follow(onTestFinished, "immediate", always("transient"));
    await consumer.pollUntil(() => consumer.seen.length === 3);
    expect(await consumer.poll(2_000), "delivery 4").toBe(false);
    expect(consumer.seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(await letters(onTestFinished, "immediate")).toMatchObject([
      { body: "1", messageId: "i1", deadLetterReason: "MaxDeliveryCountExceeded" },
    ]);
  });

  test("scheduled: three attempts, none of them early, then one dead letter", async ({ expect, onTestFinished }) => {
    await publish(onTestFinished, "shop.orders", { body: "1", messageId: "s1", subject: "scheduled" });
    const consumer = follow(onTestFinished, "scheduled", always("transient"));
    await consumer.pollUntil(() => consumer.seen.length === 3);
    const [first, second, third] = consumer.seen;
    expect((second?.receivedAtMs ?? 0) - (first?.settledAtMs ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect((third?.receivedAtMs ?? 0) - (second?.settledAtMs ?? 0)).toBeGreaterThanOrEqual(2_000);
    expect(await consumer.poll(2_000), "delivery 4").toBe(false);
    expect(await letters(onTestFinished, "scheduled")).toMatchObject([
      { body: "1", messageId: "s1:r3", deadLetterReason: "ATTEMPTS_EXHAUSTED" },
    ]);
  });

  test("a permanent failure is dead at once, with reason and description", async ({ expect, onTestFinished }) => {
    await publish(onTestFinished, "shop.orders", { body: "1", messageId: "p1", subject: "permanent" });
    const consumer = follow(onTestFinished, "permanent", always("permanent"));
    await consumer.pollUntil(() => consumer.seen.length === 1);
    expect(await consumer.poll(2_000)).toBe(false);
    expect(await letters(onTestFinished, "permanent")).toMatchObject([
      { deadLetterReason: "PERMANENT_FAILURE", deadLetterErrorDescription: "what the error of 1 says" },
    ]);
  });

  test("a retry reaches its own consumer alone", async ({ expect, onTestFinished }) => {
    await publish(onTestFinished, "shop.orders", { body: "1", messageId: "b1", subject: "both" });
    const failing = follow(onTestFinished, "failing", ({ attempt }) => (attempt === 1 ? "transient" : "success"));
    const succeeding = follow(onTestFinished, "succeeding", always("success"));
    await succeeding.pollUntil(() => succeeding.seen.length === 1);
    await failing.pollUntil(() => failing.seen.length === 2);
    expect(await succeeding.poll(2_000)).toBe(false);
  });

  test("a session keeps its order over a failed message", async ({ expect, onTestFinished }) => {
    const messages = ["a1", "a2"].map((body) => ({ body, messageId: body, sessionId: "a" }));
    await publish(onTestFinished, "shop.keyed", ...messages);
    const consumer = follow(onTestFinished, "ordered", ({ body, attempt }) =>
      body === "a1" && attempt === 1 ? "transient" : "success",
    );
    await consumer.pollUntil(() => consumer.seen.some(({ body }) => body === "a2"));
    expect(consumer.seen.map(({ body }) => body)).toEqual(["a1", "a1", "a2"]);
  });
});
