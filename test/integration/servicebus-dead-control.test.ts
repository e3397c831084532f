import { startLab } from "@redeliver/servicebus-emulator";
import { expect, onTestFinished, test } from "vitest";

import type { RedriveResult } from "../../src/operate/redrive.ts";
import { startAmqpProxy } from "../support/consume/amqp-proxy.ts";
import { ownJournal, start } from "../support/dead-journal.ts";
import { until } from "../support/deployed-system.ts";
import { answerOf, runCommand } from "../support/run-command.ts";
import { ask, bodiesIn, connected, fill, isEven, stage, take, type Stage } from "../support/servicebus/dead-stage.ts";

ownJournal();

const control = async (command: string, id: string) => answerOf(runCommand(["dead", command, id, "--json"]));

const sentAtLeast = async (system: Stage, count: number): Promise<void> =>
  until(60_000, async () => (await bodiesIn(system, system.workQueue)).length >= count);

/** A redrive of some letters a second, in a process of its own. It has begun to send. */
async function begin(system: Stage, letters: number) {
  const words = ["--confirm", String(letters), "--rate", "5", "--wait", "0s"];
  const child = start(["dead", "redrive", ...system.place, ...words]);
  const id = String(await child.id());
  await sentAtLeast(system, 3);
  return { id, ended: async () => answerOf(child.ended) };
}

test("pausing, going on and cancelling lose and double nothing, and no lock stays", async () => {
  const system = await stage();
  const bodies = await fill(system, 300);
  const { id, ended } = await begin(system, 300);
  expect((await control("pause", id)).code).toBe(0);
  expect(await ended()).toMatchObject({ state: "paused", mayBeDoubled: 0 });
  const { length } = await bodiesIn(system, system.workQueue);
  const receiver = system.lab.receiver(system.deadQueue);
  for (const head of await receiver.receiveMessages(1, { maxWaitTimeInMs: 1_000 })) {
    expect(String(head.body)).toBe(bodies[length]);
    await receiver.abandonMessage(head);
  }
  const resumed = start(["dead", "resume", id, "--json"]);
  await sentAtLeast(system, length + 3);
  expect((await control("cancel", id)).code).toBe(0);
  expect(await answerOf(resumed.ended)).toMatchObject({ state: "cancelled", mayBeDoubled: 0 });
  const [sent, left] = [await bodiesIn(system, system.workQueue), await bodiesIn(system, system.deadQueue)];
  expect([[...sent, ...left], sent.length >= length + 3]).toEqual([bodies, true]);
  expect((await control("resume", id)).code).toBe(2);
});

const closings = [
  { title: "disabled", change: { status: "SendDisabled" }, stopped: "takes no messages at present" },
  { title: "full", change: { maxSizeInMegabytes: 1 }, stopped: "is full" },
] as const;

test.for(closings)("a redrive stops if the work queue is $title, and goes on later", async (closing) => {
  const system = await stage();
  const { administration } = system.lab;
  // More than a megabyte, and most of it stays in the queue.
  const bodies = await fill(system, 100, 1, undefined, () => ({ correlationId: "x".repeat(22_000) }));
  const { id, ended } = await begin(system, 100);
  const queue = await administration.getQueue(system.workQueue);
  await administration.updateQueue({ ...queue, ...closing.change });
  const stopped = `the queue ${system.workQueue} ${closing.stopped}`;
  expect(await ended()).toMatchObject({ state: "stopped", stopped, mayBeDoubled: 0 });
  const both = async (): Promise<string[]> => [
    ...(await bodiesIn(system, system.workQueue)),
    ...(await bodiesIn(system, system.deadQueue)),
  ];
  expect(await both()).toEqual(bodies);
  await administration.updateQueue(queue);
  const resumed = start(["dead", "resume", id, "--json"]);
  expect(await answerOf(resumed.ended)).toMatchObject({ state: "done", sent: 100, mayBeDoubled: 0 });
  expect([await both(), await bodiesIn(system, system.deadQueue)]).toEqual([bodies, []]);
});

test("without the right to send nothing moves", async () => {
  const system = await stage();
  const bodies = await fill(system, 3);
  process.env["SERVICEBUS_CONNECTION_STRING"] = system.lab.emulator.addKey("reader", ["Listen"]);
  expect(await ask(system, "redrive", "--confirm", "3")).toMatchObject({ code: 1, diagnostics: [{ code: "RD807" }] });
  const letters = await connected();
  const decide = () => ({ queue: system.workQueue, history: "[]" });
  const moved = await letters.move(system.deadQueue, { most: 3, perSecond: null, decide });
  const stopped = `the queue ${system.workQueue} takes no messages from this key`;
  expect(moved).toMatchObject({ sent: 0, mayBeDoubled: 0, stopped });
  expect(await bodiesIn(system, system.deadQueue)).toEqual(bodies);
});

const cuts = ["a delivery comes", "a letter is completed", "a copy has arrived without an answer"] as const;

test.for(cuts)("a redrive goes on if the connection is cut when %s", async (moment) => {
  const system = await stage();
  const { emulator } = system.lab;
  const bodies = await fill(system, 40);
  const [, host = ""] = /sb:\/\/([^;/]*)/.exec(emulator.connectionString) ?? [];
  const proxy = await startAmqpProxy(`amqp://${host}`);
  onTestFinished(proxy.close);
  process.env["SERVICEBUS_CONNECTION_STRING"] = emulator.connectionString.replace(host, new URL(proxy.url).host);
  let seen = 0;
  const isMoment = (kind: string): boolean => kind === kinds[moment] && (seen += 1) === 20;
  proxy.onFrame = ({ kind }) => (isMoment(kind) ? "cut" : "pass");
  emulator.watch({ heard: ({ kind }) => void (isMoment(kind) && proxy.cutAll()) });
  const said = await ask<RedriveResult>(system, "redrive", "--confirm", "40", "--wait", "0s");
  const [moved, left] = [await bodiesIn(system, system.workQueue), await bodiesIn(system, system.deadQueue)];
  expect([seen >= 20, new Set([...moved, ...left])]).toEqual([true, new Set(bodies)]);
  expect(moved.length + left.length - 40, said.text).toBeLessThanOrEqual(said.mayBeDoubled);
  expect([said.code, said.sent]).toEqual([0, 40]);
});

const kinds = {
  "a delivery comes": "transfer",
  "a letter is completed": "disposition",
  "a copy has arrived without an answer": "sent",
} as const;

test("a consumer that works meanwhile handles each letter once", async () => {
  const system = await stage();
  const bodies = await fill(system, 40);
  const consumer = system.drive("billing", () => "success");
  const running = ask(system, "redrive", "--confirm", "40", "--rate", "20", "--wait", "1s");
  await consumer.pollUntil(() => consumer.seen.length === 40, 120_000);
  expect(await running).toMatchObject({ code: 0, state: "done", sent: 40, diedAgain: 0 });
  expect(consumer.seen.map(({ body }) => body)).toEqual(bodies);
  expect([await bodiesIn(system, system.workQueue), await bodiesIn(system, system.deadQueue)]).toEqual([[], []]);
});

test("a dead queue that no declaration names sends its letters to its own queue", async () => {
  const lab = await startLab(onTestFinished);
  process.env["SERVICEBUS_CONNECTION_STRING"] = lab.emulator.connectionString;
  await lab.queue("invoices");
  const workQueue = "invoices";
  const bodies = await fill({ lab, workQueue }, 6);
  const place = ["--queue", "invoices/$DeadLetterQueue", "--target", "servicebus@standard", "--json"];
  const words = ["--reason", "EVEN", "--confirm", "3", "--wait", "0s"];
  expect(await answerOf(runCommand(["dead", "redrive", ...place, ...words]))).toMatchObject({
    code: 0,
    state: "done",
    sent: 3,
  });
  expect(await bodiesIn({ lab }, workQueue)).toEqual(bodies.filter(isEven));
});

test("of 3,000 letters half are sent, and the other half stays in order", { timeout: 600_000 }, async () => {
  const system = await stage();
  const bodies = await fill(system, 3_000);
  const { groups } = await ask<{ readonly groups: readonly object[] }>(system, "groups");
  expect(groups).toMatchObject([{ count: 1_500 }, { count: 1_500 }]);
  const said = await ask(system, "redrive", "--reason", "EVEN", "--confirm", "1500", "--wait", "1ms");
  expect(said).toMatchObject({ code: 0, state: "done", sent: 1_500, mayBeDoubled: 0 });
  const odd = bodies.filter((body) => !isEven(body));
  expect(await bodiesIn(system, system.deadQueue)).toEqual(odd);
  expect(await take(system, system.workQueue)).toEqual(bodies.filter(isEven));
  // They are free, and a reader gets them in their order.
  expect(await take(system, system.deadQueue)).toEqual(odd);
});
