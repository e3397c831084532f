import { createClient } from "@redeliver/servicebus-emulator";
import { expect, test } from "vitest";

import { ownJournal } from "../support/dead-journal.ts";
import { ask, bodiesIn, isEven, stage, type Stage } from "../support/servicebus/dead-stage.ts";

ownJournal();

const sessions = ["a", "b", "c"];
const bodies = Array.from({ length: 18 }, (_, index) => String(index));
const sessionOf = (body: string): string => sessions[Number(body) % sessions.length] ?? "";

/** Takes messages of a session, in the order of their delivery. */
async function received({ lab, workQueue }: Stage, session: string, count: number, isDead = false): Promise<string[]> {
  const client = createClient(lab.emulator);
  const receiver = await client.acceptSession(workQueue, session);
  const taken: string[] = [];
  while (taken.length < count) {
    for (const message of await receiver.receiveMessages(count - taken.length, { maxWaitTimeInMs: 5_000 })) {
      const body = String(message.body);
      const end = { deadLetterReason: isEven(body) ? "EVEN" : "ODD", deadLetterErrorDescription: "" };
      if (isDead) await receiver.deadLetterMessage(message, end);
      else await receiver.completeMessage(message);
      taken.push(body);
    }
  }
  await client.close();
  return taken;
}

async function filled(): Promise<Stage> {
  const system = await stage({ from: undefined, order: "per-key" });
  const sender = system.lab.client.createSender(system.workQueue);
  for (const body of bodies)
    await sender.sendMessages({ messageId: body, sessionId: sessionOf(body), body: Buffer.from(body) });
  for (const session of sessions) await received(system, session, 6, true);
  return system;
}

test("letters of sessions keep their session, and the order in it", async () => {
  const system = await filled();
  for (const reason of ["EVEN", "ODD"]) {
    const chosen = bodies.filter((body) => isEven(body) === (reason === "EVEN"));
    const words = ["--reason", reason, "--confirm", "9", "--wait", "1ms"];
    expect(await ask(system, "redrive", ...words)).toMatchObject({ code: 0, sent: 9, stopped: null });
    for (const session of sessions)
      expect(await received(system, session, 3)).toEqual(chosen.filter((body) => sessionOf(body) === session));
  }
  expect(await bodiesIn(system, system.deadQueue)).toEqual([]);
});

test("a locked letter is not overtaken in its session, and a deferred one stays", async () => {
  const system = await filled();
  const { lab, workQueue, deadQueue } = system;
  await lab.administration.updateQueue({ ...(await lab.administration.getQueue(workQueue)), lockDuration: "PT10S" });
  const receiver = lab.receiver(deadQueue);
  const [first, second] = await lab.receive(receiver, 2);
  if (first === undefined || second === undefined) throw new Error("no letters");
  await receiver.deferMessage(second);
  expect(await ask(system, "plan")).toMatchObject({ letters: 17, stay: { deferred: 1 } });
  const said = await ask(system, "redrive", "--confirm", "17", "--wait", "0s");
  expect(said).toMatchObject({ code: 0, sent: 17, stopped: null });
  const session = String(first.sessionId);
  const rest = bodies.filter((body) => sessionOf(body) === session && body !== String(second.body));
  expect(await received(system, session, rest.length)).toEqual(rest);
  expect(await bodiesIn(system, deadQueue)).toEqual([String(second.body)]);
});
