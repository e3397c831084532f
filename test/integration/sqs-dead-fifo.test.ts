import { describe, expect, test } from "vitest";

import type { RedrivePlan } from "../../src/operate/plan.ts";
import { ownJournal } from "../support/dead-journal.ts";
import { answerOf } from "../support/run-command.ts";
import { ask, drain, fill, stage, underway } from "../support/sqs/dead-stage.ts";
import type { DeployedSystem } from "../support/sqs/deployed-system.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

ownJournal();

const oneGroup = (): string => "one";
const isEven = (body: string): boolean => Number(body) % 2 === 0;

const planOf = async (system: DeployedSystem, ...words: readonly string[]): Promise<RedrivePlan> =>
  ask<RedrivePlan>(system, "plan", ...words);

/** The bodies of a queue, in order. */
const left = async (system: DeployedSystem, kind: "dead" | "work"): Promise<string[]> =>
  (await drain(system, system[kind]("billing"))).map(({ Body = "" }) => Body);

describe.for(sqsEmulators())("a long group of dead letters on $name", (emulator) => {
  test("is sent in order by one redrive, and later letters are not touched", async () => {
    const system = await stage(emulator, { order: "per-key" });
    const bodies = await fill(system, 25, 1, oneGroup);
    expect(await planOf(system)).toMatchObject({ frozen: 25, letters: 10, behind: 15 });
    const neither = await ask(system, "redrive", "--confirm", "11");
    expect(neither).toMatchObject({ code: 1, diagnostics: [{ code: "RD811" }] });
    const redrive = await underway(system, "--confirm", "25", "--rate", "10", "--wait", "0s");
    const later = await fill(system, 3, 100, () => "another");
    const said = await answerOf(redrive.ended);
    expect(said, said.text).toMatchObject({ code: 0, sent: 25, letters: 25, stopped: null });
    expect(await left(system, "work")).toEqual(bodies);
    expect(await left(system, "dead")).toEqual(later);
  });

  test("is sent as far as SQS shows it, if the filter leaves letters", async () => {
    const system = await stage(emulator, { order: "per-key" });
    const bodies = await fill(system, 25, 1, oneGroup);
    expect(await planOf(system, "--reason", "EVEN")).toMatchObject({ letters: 5, behind: 15 });
    const said = await ask(system, "redrive", "--reason", "EVEN", "--confirm", "20", "--wait", "0s");
    const stopped = expect.stringContaining("behind letters that stay") as string;
    expect(said).toMatchObject({ code: 3, state: "stopped", stopped });
    const sent = await left(system, "work");
    expect(sent).toEqual(bodies.filter(isEven).slice(0, sent.length));
    expect(sent.length).toBeGreaterThan(5);
    expect(await left(system, "dead")).toEqual(bodies.filter((body) => !sent.includes(body)));
  });

  test("stops a redrive if its letters die again, although SQS does not show them", async () => {
    const system = await stage(emulator, { order: "per-key" });
    await fill(system, 40, 1, oneGroup);
    const consumer = system.drive("billing", () => "permanent");
    let isOver = false;
    const running = ask(system, "redrive", "--confirm", "40", "--wait", "5s").finally(() => (isOver = true));
    await consumer.pollUntil(() => isOver, 120_000);
    const wanted = { sent: 1, diedAgain: 1, stopped: "1 of 1 letters have died again" };
    expect(await running).toMatchObject(wanted);
    expect(await system.lab.count(system.dead("billing"))).toBe(40);
  });
});
