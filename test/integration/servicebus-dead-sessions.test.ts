import { createClient } from "@redeliver/servicebus-emulator";
import { expect, onTestFinished, test } from "vitest";

import { operating } from "../../src/brokers/servicebus/operate/index.ts";
import { deploy } from "../support/servicebus/deployed-system.ts";

test("letters of sessions keep their session, and the order in it", { timeout: 240_000 }, async () => {
  const consumer = { order: "per-key", retry: { attempts: 2, backoff: { kind: "immediate" } } };
  const system = await deploy(onTestFinished, { billing: consumer }, {});
  const { connectionString } = system.lab.emulator;
  process.env["SERVICEBUS_CONNECTION_STRING"] = connectionString;
  const { workQueue, deadQueue } = system.contract("billing");
  const client = createClient({ connectionString });
  onTestFinished(() => client.close());
  const sessions = ["a", "b", "c"];
  const bodies = Array.from({ length: 15 }, (_, index) => String(index));
  const sessionOf = (body: string): string => sessions[Number(body) % sessions.length] ?? "";
  const sender = client.createSender(workQueue);
  for (const body of bodies)
    await sender.sendMessages({ messageId: body, sessionId: sessionOf(body), body: Buffer.from(body) });
  /** The messages of a session, in the order of their delivery. */
  const received = async (session: string, isDead: boolean): Promise<readonly string[]> => {
    const receiver = await client.acceptSession(workQueue, session);
    const taken: string[] = [];
    for (let left = 5; left > 0;) {
      const page = await receiver.receiveMessages(left, { maxWaitTimeInMs: 5_000 });
      for (const message of page) {
        if (isDead)
          await receiver.deadLetterMessage(message, { deadLetterReason: "ODD", deadLetterErrorDescription: "" });
        else await receiver.completeMessage(message);
      }
      taken.push(...page.map(({ body }) => String(body)));
      left -= page.length;
    }
    await receiver.close();
    return taken;
  };
  for (const session of sessions) await received(session, true);
  const letters = await operating.connect({ url: undefined, managementUrl: undefined, place: null });
  onTestFinished(letters.close);
  expect(await letters.look(deadQueue, () => true)).toMatchObject({ seen: bodies.length, isWhole: true });
  const decide = ({ position }: { readonly position: number }) => ({
    queue: workQueue,
    history: JSON.stringify([{ generation: position, redrive: "r", at: "now" }]),
  });
  const pass = { most: Infinity, perSecond: null, decide };
  expect(await letters.move(deadQueue, pass)).toMatchObject({ sent: bodies.length, stopped: null });
  for (const session of sessions)
    expect(await received(session, false)).toEqual(bodies.filter((body) => sessionOf(body) === session));
});
