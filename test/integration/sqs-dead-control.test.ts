import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DeleteQueueCommand } from "@aws-sdk/client-sqs";
import { describe, expect, onTestFinished, test } from "vitest";

import type { RedriveResult } from "../../src/operate/redrive.ts";
import { ownJournal, start } from "../support/dead-journal.ts";
import { answerOf, runCommand } from "../support/run-command.ts";
import { ask, bodiesOf, drain, fill, stage, underway, wordsFor } from "../support/sqs/dead-stage.ts";
import { startEnforcingMoto } from "../support/sqs/enforcing-moto.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

ownJournal();

const folder = temporaryFolder("profiles");

/** The environment of a person with a profile of their own. The SDK warns of keys beside it. */
function operator(profile: string): Record<string, string> {
  const file = join(folder, "credentials");
  const lines = ["ann", "bob"].map((name) => `[${name}]\naws_access_key_id=test\naws_secret_access_key=test\n`);
  writeFileSync(file, lines.join("\n"));
  return { AWS_PROFILE: profile, AWS_SHARED_CREDENTIALS_FILE: file, AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" };
}

describe.for(sqsEmulators())("a redrive on $name", (emulator) => {
  test("keeps others away from the queue, and goes on by their hands, also with another profile", async () => {
    const system = await stage(emulator);
    await fill(system, 16);
    const ann = start(
      [...wordsFor(system, "redrive"), "--confirm", "16", "--rate", "1", "--wait", "0s"],
      operator("ann"),
    );
    const id = String(await ann.id());
    const { code, out } = await runCommand([...wordsFor(system, "redrive"), "--confirm", "16"], operator("bob"));
    expect([code, out]).toEqual([1, expect.stringMatching(new RegExp(`RD816[^]*${id}`))]);
    expect((await runCommand(["dead", "pause", id])).code).toBe(0);
    expect((await ann.ended).code).toBe(3);
    const resumed = await runCommand(["dead", "resume", id, "--json"], operator("bob"));
    expect([resumed.code, resumed.out]).toEqual([0, expect.stringContaining('"done"')]);
    expect(await system.lab.count(system.work("billing"))).toBe(16);
  });

  test.for(["none", "per-key"])("is cancelled, and loses and doubles nothing: order %s", async (order) => {
    const system = await stage(emulator, { order });
    const bodies = await fill(system, 9);
    // It waits longer than the test after its first letter.
    const running = await underway(system, "--confirm", "9", "--wait", "1h");
    const id = String(await running.id());
    expect(await answerOf(runCommand(["dead", "cancel", id, "--json"]))).toMatchObject({ code: 0, state: "cancelled" });
    const { code, sent } = await answerOf<RedriveResult>(running.ended);
    expect([code, sent < 9]).toEqual([3, true]);
    expect((await runCommand(["dead", "resume", id])).code).toBe(2);
    const [gone, left] = [await drain(system, system.work("billing")), await drain(system, system.dead("billing"))];
    expect([gone.length, bodiesOf([...gone, ...left])]).toEqual([sent, bodies]);
  });

  test.for(["none", "per-key"])("stops if its work queue is deleted meanwhile: order %s", async (order) => {
    const system = await stage(emulator, { order });
    await fill(system, 60);
    const running = await underway(system, "--confirm", "60", "--rate", "1", "--wait", "0s");
    await system.lab.sqs.send(new DeleteQueueCommand({ QueueUrl: system.work("billing").url }));
    const { code, sent, stopped, text } = await answerOf<RedriveResult>(running.ended);
    expect([code, stopped], text).toEqual([3, `the queue ${system.work("billing").name} is gone`]);
    expect(sent).toBeGreaterThan(0);
    expect(await drain(system, system.dead("billing"))).toHaveLength(60 - sent);
  });

  test("is done beside a consumer that works on its letters", async () => {
    const system = await stage(emulator);
    const bodies = await fill(system, 15);
    const consumer = system.drive("billing", () => "success");
    let isOver = false;
    const running = ask(system, "redrive", "--confirm", "15", "--wait", "2s").finally(() => (isOver = true));
    await consumer.pollUntil(() => isOver && consumer.seen.length >= 15, 120_000);
    expect(await running).toMatchObject({ code: 0, state: "done", sent: 15, diedAgain: 0, mayBeDoubled: 0 });
    expect(bodiesOf(consumer.seen.map(({ body: Body }) => ({ Body })))).toEqual(bodies);
    const { dead, work, lab } = system;
    expect([await lab.count(dead("billing")), await lab.count(work("billing"))]).toEqual([0, 0]);
  });
});

test("a redrive stops if it may not send, and is refused if it may not put back; all letters stay", async () => {
  const moto = await startEnforcingMoto();
  onTestFinished(moto.stop);
  const system = await stage(moto.emulator);
  await fill(system, 5);
  const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = moto.credentials;
  const words = wordsFor(system, "redrive").map((word) => (word === moto.emulator.endpoint ? moto.endpoint : word));
  const redriven = async (count: number, filter: readonly string[], ...more: readonly string[]) => {
    const actions = ["GetQueueUrl", "GetQueueAttributes", "ReceiveMessage", "DeleteMessage", ...more];
    await moto.allow(actions.map((action) => `sqs:${action}`));
    const environment = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY };
    return answerOf(runCommand([...words, ...filter, "--confirm", String(count), "--wait", "0s"], environment));
  };
  // moto asks for the right to the batch, and AWS for that to the single call.
  const putBack = "ChangeMessageVisibilityBatch";
  const stopped = `these credentials may not send to ${system.work("billing").name}`;
  expect(await redriven(5, [], putBack)).toMatchObject({ code: 3, sent: 0, stopped });
  const sent = { code: 0, sent: 2, stopped: null, plan: { stay: { "not chosen": 3 } } };
  expect(await redriven(2, ["--reason", "EVEN"], putBack, "SendMessage")).toMatchObject(sent);
  expect(await redriven(3, [], "SendMessage")).toMatchObject({ code: 1, diagnostics: [{ code: "RD807" }] });
});
