import { describe, expect, onTestFinished, test } from "vitest";

import { before, cloudCases, removedBy } from "../support/change/cloud-cases.ts";
import { inTurn } from "../support/in-turn.ts";
import { applyToEmulator } from "../support/sqs/apply.ts";
import { region } from "../support/sqs/clients.ts";
import { drive } from "../support/sqs/drive.ts";
import { createLab } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { compileSqs, registerSqs } from "../support/sqs/register.ts";

// A change removes a consumer from the program while messages wait in its queues and publishers go on. Its old consumer
// always fails. It must get all of the messages, and all must end in its dead queue.

const target = { broker: "sqs", region } as const;
const messages = 20;

describe.each(sqsEmulators())("on $name $version", (emulator) => {
  test.each(cloudCases)("$name", async ({ to, unprotect }) => {
    const old = await inTurn(async () => registerSqs(before, target));
    const now = to === null ? [] : (await inTurn(async () => registerSqs(to, target))).resources;
    const { removed, error } = await removedBy(old.resources, now, unprotect);
    if (unprotect) expect(error).toBeNull();
    else expect(error).toMatch(/protected/);
    // Keeps the resources that were not deleted, then adds those that the change makes and updates.
    const gone = new Set(removed.map(({ urn }) => urn));
    const lab = createLab(emulator);
    const applied = await applyToEmulator(
      emulator,
      old.resources.filter(({ urn }) => !gone.has(urn)),
    );
    const added = await applyToEmulator(emulator, error === null ? now : []);
    onTestFinished(async () => {
      await added.dispose();
      await applied.dispose();
      await lab.dispose();
    });
    const contract = compileSqs(before, target).contracts.find((each) => each.consumer === "billing");
    const work = applied.queues.get("change-billing");
    const dead = applied.queues.get("change-billing-dead");
    const topic = applied.topics.get("change-orders");
    if (contract === undefined || work === undefined || dead === undefined) throw new Error("billing is gone");
    const attribute = { "routing-key": { DataType: "String", StringValue: "order.placed" } };
    for (let index = 0; index < messages; index++) {
      await lab.send(work, `waiting ${index}`);
      // ElasticMQ has no topics.
      if (emulator.name === "elasticmq") await lab.send(work, `published ${index}`);
      else await lab.publish(topic ?? "", `published ${index}`, attribute);
    }
    const consumer = drive({ sqs: lab.sqs, queues: applied.queues, contract, decide: () => "transient" });
    await consumer.pollUntil(async () => (await lab.count(dead)) === 2 * messages, 150_000);
    expect(await lab.count(work)).toBe(0);
    expect(consumer.seen.filter(({ attempt }) => attempt > 2)).toEqual([]);
  });
});
