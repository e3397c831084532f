import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import * as dead from "../../src/dead-letters/index.ts";
import { consuming } from "../support/sqs/consuming.ts";
import { bodiesOf, drain } from "../support/sqs/dead-stage.ts";
import { attributes, deploy } from "../support/sqs/deployed-system.ts";
import { gapOf } from "../support/sqs/known-gaps.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const consumer = {
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "immediate" } },
  handlerTimeout: "5s",
};
const endings = { billing: "permanent", audit: "transient", mail: "permanent" } as const;
const consumers = Object.keys(endings) as (keyof typeof endings)[];

test.for(sqsEmulators())(
  "on $name consumers that fail at once share a dead queue, and each has its own letters sent again",
  async (emulator) => {
    const declared = Object.fromEntries(consumers.map((name) => [name, consumer]));
    const system = await deploy(emulator, declared, "auto", undefined, {}, { deadQueue: "shared" });
    onTestFinished(system.dispose);
    const { lab, work, target } = system;
    const shared = system.dead("billing");
    expect(new Set(consumers.map((name) => system.dead(name).name))).toEqual(new Set([shared.name]));
    const bodies = ["1", "2", "3", "4"];
    // A publisher that names the queue of another consumer, and a letter that nobody knows the consumer of.
    const forged = { MessageAttributes: attributes({ "dlq-original-queue": work("mail").name }) };
    for (const name of consumers)
      for (const body of bodies) await lab.send(work(name), body, body === "4" ? forged : {});
    await lab.send(shared, "5");
    const driven = consumers.map((name) => system.drive(name, () => endings[name]));
    const areDead = async (): Promise<boolean> => (await lab.count(shared)) === 3 * bodies.length + 1;
    await Promise.all(driven.map((each) => each.pollUntil(areDead, 60_000)));

    const running = await consuming(system, "billing", () => undefined);
    await running.stop();
    // Of a letter that was moved by SQS, moto does not say where it died. Then it is nobody's.
    const isTold = gapOf("dead-letter-names-source", emulator.name) === undefined;
    const connection = { url: lab.emulator.endpoint };
    const journal = await dead.openJournal(join(temporaryFolder("shared", onTestFinished), "journal.sqlite"));
    onTestFinished(journal.close);
    const asked = async <Result>(name: string, make: (desk: dead.Desk) => Promise<Result>): Promise<Result> => {
      const opened = await dead.openDeadQueue({ system: system.declared, consumer: name, target, connection });
      return make({ dead: opened, journal }).finally(opened.letters.close);
    };
    const lettersOf = (name: string) => asked(name, async (desk) => (await dead.groupLetters(desk.dead, {})).matched);
    expect(await lettersOf("audit")).toBe(isTold ? 4 : 0);
    expect(await lettersOf("billing")).toBe(4);
    await expect(asked("mail", (desk) => dead.moveWhole(desk, { confirm: 13 }))).rejects.toThrow("other consumers");
    const order = { confirm: isTold ? 4 : 0, waitMs: 0 };
    if (isTold) expect(await asked("audit", (desk) => dead.redriveLetters(desk, order))).toMatchObject({ sent: 4 });
    expect(await asked("billing", (desk) => dead.redriveLetters(desk, { ...order, confirm: 4 }))).toMatchObject({
      sent: 4,
    });
    expect(bodiesOf(await drain(system, work("billing")))).toEqual(bodies);
    expect(bodiesOf(await drain(system, work("audit")))).toEqual(isTold ? bodies : []);
    expect(await lab.count(work("mail"))).toBe(0);
    expect(await lab.count(shared)).toBe(isTold ? 5 : 9);
  },
);
