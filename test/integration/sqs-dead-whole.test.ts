import { beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { operating } from "../../src/brokers/sqs/operate/index.ts";
import { sleep } from "../support/deployed-system.ts";
import { runCommand, type Said } from "../support/run-command.ts";
import { region } from "../support/sqs/clients.ts";
import { deploy, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import { startRecordingProxy } from "../support/sqs/recording-proxy.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

beforeAll(() => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" });
});

const billing = {
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "immediate" } },
  handlerTimeout: "5s",
};

async function stage(emulator: Parameters<typeof deploy>[0], letters: number): Promise<DeployedSystem> {
  const system = await deploy(emulator, { billing, audit: billing });
  onTestFinished(system.dispose);
  for (let body = 1; body <= letters; body++) await system.lab.send(system.dead("billing"), String(body));
  return system;
}

const redrive = async (system: DeployedSystem, ...words: readonly string[]): Promise<Said> =>
  redriveAt(system.lab.emulator.endpoint, system, ...words);

const redriveAt = async (url: string, { dead }: DeployedSystem, ...words: readonly string[]): Promise<Said> =>
  runCommand([
    "dead",
    "redrive",
    "--whole",
    "--json",
    `--queue=${dead("billing").name}`,
    `--target=sqs@${region}`,
    `--url=${url}`,
    ...words,
  ]);

const hasMoves = ({ name }: { readonly name: string }): boolean => name !== "moto";

describe.for(sqsEmulators().filter(hasMoves))("a whole dead queue on $name", { timeout: 240_000 }, (emulator) => {
  test("is moved by the broker, to the work queue alone", async () => {
    const system = await stage(emulator, 30);
    const { lab } = system;
    const plan = await redrive(system);
    expect([plan.code, JSON.parse(plan.out)]).toEqual([0, { queue: system.dead("billing").name, letters: 30 }]);
    expect(await lab.count(system.work("billing"))).toBe(0);
    const wrong = await redrive(system, "--confirm", "29");
    expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining("RD811")]);
    const said = await redrive(system, "--confirm", "30", "--rate", "100");
    expect([said.code, JSON.parse(said.out)]).toMatchObject([0, { moved: 30, stopped: null }]);
    expect(await lab.count(system.work("billing"))).toBe(30);
    expect([await lab.count(system.dead("billing")), await lab.count(system.work("audit"))]).toEqual([0, 0]);
  });

  test("is followed although SQS still lists the move before", async () => {
    const system = await stage(emulator, 3);
    const proxy = await startRecordingProxy(emulator.endpoint);
    onTestFinished(proxy.close);
    expect((await redrive(system, "--confirm", "3")).code).toBe(0);
    for (const body of ["4", "5"]) await system.lab.send(system.dead("billing"), body);
    let old = 3;
    proxy.decide(({ operation }) => {
      const first = proxy.calls.find((call) => call.operation === "ListMessageMoveTasks");
      const isStarted = proxy.calls.some((call) => call.operation === "StartMessageMoveTask");
      if (operation !== "ListMessageMoveTasks" || !isStarted || (old -= 1) < 0) return "pass";
      return { answer: JSON.stringify(first?.output) };
    });
    const said = await redriveAt(proxy.endpoint, system, "--confirm", "2");
    expect([said.code, JSON.parse(said.out)]).toMatchObject([0, { moved: 2, stopped: null }]);
    expect(old).toBeLessThan(0);
    expect(await system.lab.count(system.work("billing"))).toBe(5);
  });

  test("is moved in part if somebody cancels, and nothing is lost", async () => {
    const system = await stage(emulator, 40);
    const { lab } = system;
    const letters = await operating.connect({ url: lab.emulator.endpoint, managementUrl: undefined, place: region });
    onTestFinished(letters.close);
    const dead = system.dead("billing").name;
    expect(await letters.whole?.start(dead, system.work("billing").name, 2)).toBe(null);
    while ((await lab.count(system.work("billing"))) < 2) await sleep(200);
    expect(await letters.whole?.latest(dead)).toMatchObject({ isRunning: true });
    const said = await redrive(system, "--cancel");
    expect([said.code, JSON.parse(said.out)]).toMatchObject([3, { stopped: "it was cancelled" }]);
    const [sent, left] = [await lab.count(system.work("billing")), await lab.count(system.dead("billing"))];
    expect(sent + left).toBe(40);
    expect(left).toBeGreaterThan(0);
  });
});

describe.for(sqsEmulators())("a whole dead queue on $name", { timeout: 240_000 }, (emulator) => {
  test("refuses filters, a move that does not run, and an endpoint without moves", async () => {
    const system = await stage(emulator, 3);
    const filtered = await redrive(system, "--reason", "EVEN");
    expect([filtered.code, filtered.out]).toEqual([2, expect.stringContaining("leave out the filters")]);
    const rate = await redrive(system, "--confirm", "3", "--rate", "501");
    expect([rate.code, rate.out]).toEqual([2, expect.stringContaining("at most 500 letters a second")]);
    if (!hasMoves(emulator)) {
      const said = await redrive(system, "--confirm", "3");
      expect([said.code, said.out]).toEqual([2, expect.stringContaining("a redrive moves the letters one by one")]);
    } else {
      const none = await redrive(system, "--cancel");
      expect([none.code, none.out]).toEqual([2, expect.stringContaining("no move of")]);
    }
    expect(await system.lab.count(system.dead("billing"))).toBe(3);
  });
});
