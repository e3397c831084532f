import { expect, test } from "vitest";

import type { Letter } from "../../src/operate/letter.ts";
import { ownJournal } from "../support/dead-journal.ts";
import { ask, bodiesIn, connected, fill, isEven, stage, type Stage } from "../support/servicebus/dead-stage.ts";

ownJournal();

/** By default, the shortest that Service Bus allows. */
async function withLocks(lockDuration = "PT5S"): Promise<Stage> {
  const system = await stage();
  const { administration } = system.lab;
  await administration.updateQueue({ ...(await administration.getQueue(system.workQueue)), lockDuration });
  return system;
}

test("each look of a connection shows all letters", async () => {
  const system = await stage();
  await fill(system, 5);
  const letters = await connected();
  const look = (most: number) => letters.look(system.deadQueue, ({ position }) => position < most);
  const looked = [await look(2), await look(Infinity), await look(Infinity)];
  expect(looked.map(({ seen }) => seen)).toEqual([2, 5, 5]);
});

test("letters behind thousands of others are sent, and the others stay in order", async () => {
  const system = await stage();
  const others = await fill(system, 3_000, 1, () => "OTHER");
  const chosen = await fill(system, 6, 10_001, () => "CHOSEN");
  const said = await ask(system, "redrive", "--reason", "CHOSEN", "--confirm", "6", "--rate", "1", "--wait", "0s");
  expect(said).toMatchObject({ code: 0, state: "done", sent: 6, mayBeDoubled: 0 });
  expect(await bodiesIn(system, system.workQueue)).toEqual(chosen);
  expect(await bodiesIn(system, system.deadQueue)).toEqual(others);
  // Nobody waits for their locks.
  const receiver = system.lab.receiver(system.deadQueue);
  const [head] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 1_000 });
  expect(String(head?.body)).toBe("1");
});

test("a low rate outlives no lock", async () => {
  const system = await withLocks();
  const bodies = await fill(system, 60);
  const words = ["--reason", "EVEN", "--confirm", "30", "--rate", "2", "--wait", "0s"];
  expect(await ask(system, "redrive", ...words)).toMatchObject({ code: 0, state: "done", sent: 30, mayBeDoubled: 0 });
  expect(await bodiesIn(system, system.workQueue)).toEqual(bodies.filter(isEven));
  expect(await bodiesIn(system, system.deadQueue)).toEqual(bodies.filter((body) => !isEven(body)));
});

test("letters that somebody deferred are sent by their numbers", async () => {
  const system = await stage();
  const bodies = await fill(system, 10);
  const receiver = system.lab.receiver(system.deadQueue);
  for (const message of await system.lab.receive(receiver, 10))
    if (Number(message.body) <= 4) await receiver.deferMessage(message);
    else await receiver.abandonMessage(message);
  expect(await ask(system, "plan", "--reason", "EVEN")).toMatchObject({ letters: 5, stay: { "not chosen": 5 } });
  const said = await ask(system, "redrive", "--reason", "EVEN", "--confirm", "5", "--wait", "0s");
  expect(said).toMatchObject({ code: 0, sent: 5, mayBeDoubled: 0 });
  expect(await bodiesIn(system, system.workQueue)).toEqual(bodies.filter(isEven));
  expect(await bodiesIn(system, system.deadQueue)).toEqual(bodies.filter((body) => !isEven(body)));
});

test("a letter that somebody else has locked is sent when it is free, and none is reported gone", async () => {
  const system = await withLocks("PT15S");
  const bodies = await fill(system, 10);
  await system.lab.receive(system.deadQueue, 3);
  const said = await ask(system, "redrive", "--confirm", "10", "--wait", "0s");
  expect(said).toMatchObject({ code: 0, sent: 10, mayBeDoubled: 0, stopped: null });
  expect((await bodiesIn(system, system.workQueue)).toSorted()).toEqual(bodies.toSorted());
});

test("a letter behind too many others is not reported gone", async () => {
  const system = await withLocks();
  await fill(system, 1_200, 1, () => "OTHER");
  await fill(system, 1, 10_001, () => "CHOSEN");
  const letters = await connected();
  const decide = ({ properties }: Letter) =>
    properties["deadLetterReason"] === "CHOSEN" ? { queue: system.workQueue, history: "[]" } : null;
  // It is asked before each page, so this makes a slow machine.
  const stopped = (): null => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    return null;
  };
  const moved = await letters.move(system.deadQueue, { most: 1, perSecond: null, decide, stopped });
  expect(moved).toMatchObject({ sent: 0, isLost: false, stopped: expect.stringContaining("in front of the next") });
  expect((await bodiesIn(system, system.deadQueue)).length).toBe(1_201);
});

test("a refusal stops the redrive at once, with its name and nothing doubled", async () => {
  const system = await stage();
  const bodies = await fill(system, 3);
  let tries = 0;
  system.lab.emulator.watch({
    refuse: (path) => {
      if (path !== system.workQueue) return null;
      tries += 1;
      return { condition: "amqp:precondition-failed", description: "no" };
    },
  });
  const letters = await connected();
  const decide = () => ({ queue: system.workQueue, history: "[]" });
  const moved = await letters.move(system.deadQueue, { most: 3, perSecond: null, decide });
  const stopped = `the queue ${system.workQueue} refuses it: PreconditionFailedError`;
  expect([moved, tries]).toEqual([{ sent: 0, mayBeDoubled: 0, stopped, isLost: false }, 1]);
  expect(await bodiesIn(system, system.deadQueue)).toEqual(bodies);
});
