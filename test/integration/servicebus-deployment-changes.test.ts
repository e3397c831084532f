import { createClient, startLab } from "@redeliver/servicebus-emulator";
import { expect, onTestFinished, test } from "vitest";

import { before, cloudCases, removedBy } from "../support/change/cloud-cases.ts";
import { inTurn } from "../support/in-turn.ts";
import { applyToEmulator } from "../support/servicebus/apply.ts";
import { drive } from "../support/servicebus/drive.ts";
import { compileServicebus, registerServicebus } from "../support/servicebus/register.ts";

// As for SQS: the old consumer must get the waiting messages and those published afterwards. All must end in its
// dead-letter queue.

const target = { broker: "servicebus", sku: "standard" } as const;
const messages = 10;

test.each(cloudCases)("$name", { timeout: 180_000 }, async ({ to, unprotect }) => {
  const old = await inTurn(async () => registerServicebus(before, target));
  const now = to === null ? [] : (await inTurn(async () => registerServicebus(to, target))).resources;
  const { removed, error } = await removedBy(old.resources, now, unprotect);
  if (unprotect) expect(error).toBeNull();
  else expect(error).toMatch(/protected/);
  const gone = new Set(removed.map(({ urn }) => urn));
  const lab = await startLab(onTestFinished);
  await applyToEmulator(
    lab.administration,
    old.resources.filter(({ urn }) => !gone.has(urn)),
  );
  // Then applies the resources that the change makes and updates.
  if (error === null) await applyToEmulator(lab.administration, now);
  const contract = compileServicebus(before, target).contracts.find((each) => each.consumer === "billing");
  if (contract === undefined) throw new Error("billing is gone");
  const [direct, topic] = [lab.client.createSender(contract.workQueue), lab.client.createSender("change.orders")];
  for (let index = 0; index < messages; index++) {
    await direct.sendMessages({ body: `waiting ${index}`, messageId: `waiting ${index}` });
    await topic.sendMessages({ body: `published ${index}`, messageId: `published ${index}`, subject: "order.placed" });
  }
  const consumer = drive({ connect: () => createClient(lab.emulator), contract, decide: () => "transient" });
  const dead = async (): Promise<number> => (await lab.deadLetters(contract.workQueue)).length;
  await consumer.pollUntil(async () => (await dead()) === 2 * messages, 150_000);
  expect(consumer.seen.filter(({ attempt }) => attempt > 2)).toEqual([]);
});
