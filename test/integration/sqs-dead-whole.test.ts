import { describe, expect, onTestFinished, test } from "vitest";

import { ownJournal } from "../support/dead-journal.ts";
import { sleep } from "../support/deployed-system.ts";
import type { Answer } from "../support/run-command.ts";
import { ask, connected, fill, stage } from "../support/sqs/dead-stage.ts";
import type { DeployedSystem } from "../support/sqs/deployed-system.ts";
import { startRecordingProxy } from "../support/sqs/recording-proxy.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

ownJournal();

async function filled(emulator: Parameters<typeof stage>[0], letters: number): Promise<DeployedSystem> {
  const system = await stage(emulator);
  await fill(system, letters);
  return system;
}

const redrive = async (system: DeployedSystem, ...words: readonly string[]): Promise<Answer> =>
  ask(system, "redrive", "--whole", ...words);

const hasMoves = ({ name }: { readonly name: string }): boolean => name !== "moto";

describe.for(sqsEmulators().filter(hasMoves))("a whole dead queue on $name", (emulator) => {
  test("is moved by the broker, to the work queue alone", async () => {
    const system = await filled(emulator, 30);
    const { lab } = system;
    const { text: _, ...plan } = await redrive(system);
    expect(plan).toEqual({ code: 0, queue: system.dead("billing").name, letters: 30 });
    expect(await lab.count(system.work("billing"))).toBe(0);
    expect(await redrive(system, "--confirm", "29")).toMatchObject({ code: 1, diagnostics: [{ code: "RD811" }] });
    const said = await redrive(system, "--confirm", "30", "--rate", "100");
    expect(said).toMatchObject({ code: 0, moved: 30, stopped: null });
    expect(await lab.count(system.work("billing"))).toBe(30);
    expect([await lab.count(system.dead("billing")), await lab.count(system.work("audit"))]).toEqual([0, 0]);
  });

  test("is followed although SQS still lists the move before", async () => {
    const system = await filled(emulator, 3);
    const proxy = await startRecordingProxy(emulator.endpoint);
    onTestFinished(proxy.close);
    const behindProxy = { ...system, lab: { ...system.lab, emulator: { ...emulator, endpoint: proxy.endpoint } } };
    expect((await redrive(system, "--confirm", "3")).code).toBe(0);
    for (const body of ["4", "5"]) await system.lab.send(system.dead("billing"), body);
    let old = 3;
    proxy.decide(({ operation }) => {
      const first = proxy.calls.find((call) => call.operation === "ListMessageMoveTasks");
      const isStarted = proxy.calls.some((call) => call.operation === "StartMessageMoveTask");
      if (operation !== "ListMessageMoveTasks" || !isStarted || (old -= 1) < 0) return "pass";
      return { answer: JSON.stringify(first?.output) };
    });
    const said = await redrive(behindProxy, "--confirm", "2");
    expect(said).toMatchObject({ code: 0, moved: 2, stopped: null });
    expect(old).toBeLessThan(0);
    expect(await system.lab.count(system.work("billing"))).toBe(5);
  });

  test("is moved in part if somebody cancels, and nothing is lost", async () => {
    const system = await filled(emulator, 40);
    const { lab } = system;
    const letters = await connected(lab.emulator.endpoint);
    const dead = system.dead("billing").name;
    expect(await letters.whole?.start(dead, system.work("billing").name, 2)).toBe(null);
    while ((await lab.count(system.work("billing"))) < 2) await sleep(200);
    expect(await letters.whole?.latest(dead)).toMatchObject({ isRunning: true });
    expect(await redrive(system, "--cancel")).toMatchObject({ code: 3, stopped: "it was cancelled" });
    const [sent, left] = [await lab.count(system.work("billing")), await lab.count(system.dead("billing"))];
    expect(sent + left).toBe(40);
    expect(left).toBeGreaterThan(0);
  });
});

describe.for(sqsEmulators())("a whole dead queue on $name", (emulator) => {
  test("refuses filters, a move that does not run, and an endpoint without moves", async () => {
    const system = await filled(emulator, 3);
    const filtered = await redrive(system, "--reason", "EVEN");
    expect(filtered).toMatchObject({ code: 2, usage: expect.stringContaining("leave out the filters") });
    const rate = await redrive(system, "--confirm", "3", "--rate", "501");
    expect(rate).toMatchObject({ code: 2, usage: expect.stringContaining("at most 500 letters a second") });
    if (!hasMoves(emulator)) {
      const said = await redrive(system, "--confirm", "3");
      expect(said).toMatchObject({ code: 2, usage: expect.stringContaining("a redrive moves the letters one by one") });
    } else {
      const none = await redrive(system, "--cancel");
      expect(none).toMatchObject({ code: 2, usage: expect.stringContaining("no move of") });
    }
    expect(await system.lab.count(system.dead("billing"))).toBe(3);
  });
});
