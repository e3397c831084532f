import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { describeDeadLetter } from "redeliver/consume";
import { describe, expect, test } from "vitest";

import { until } from "../support/deployed-system.ts";
import { consuming, untilCount } from "../support/sqs/consuming.ts";
import { deploy, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import { expectedOn } from "../support/sqs/known-gaps.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

const attempts = 2;
/** Long enough that the test kills each process before its handler's time is over, on a slow machine too. */
const billing = { from: { orders: "all" }, handlerTimeout: "8s" };
const strategies = {
  redrive: { ...billing, retry: { attempts, backoff: { kind: "constant", delay: "2s" } } },
  visibility: { ...billing, retry: { attempts, backoff: { kind: "linear", first: "1s" } } },
} as const;
/** Its handlers end only when the test tells them to. */
const patient = { ...strategies.visibility, handlerTimeout: "60s" };
const script = resolve(import.meta.dirname, "../support/sqs/consuming-child.ts");

interface Started {
  /** The lines of its output. */
  readonly said: readonly string[];
  /** @returns its exit code and the signal that ended it */
  readonly kill: (signal: "SIGKILL" | "SIGTERM") => Promise<unknown>;
}

describe.concurrent.each(sqsEmulators())("consumers' processes on $name $version", (emulator) => {
  const start = async ({ declared, target }: DeployedSystem, finished: (end: () => void) => void): Promise<Started> => {
    const input = JSON.stringify({ declared, target, endpoint: emulator.endpoint });
    const child = spawn(process.execPath, [script, input], { stdio: ["ignore", "pipe", "inherit"] });
    finished(() => void child.kill("SIGKILL"));
    const said: string[] = [];
    child.stdout.setEncoding("utf8").on("data", (text: string) => said.push(...text.trimEnd().split("\n")));
    await until(120_000, () => said.includes("running"));
    return {
      said,
      kill: async (signal) => {
        const exited = once(child, "exit");
        child.kill(signal);
        return exited;
      },
    };
  };

  test.for(["redrive", "visibility"] as const)(
    "killed in every attempt, under %s: each crash costs an attempt, and after the last one the message is dead",
    async (strategy, { onTestFinished }) => {
      const system = await deploy(emulator, { billing: strategies[strategy] }, strategy);
      onTestFinished(system.dispose);
      await system.lab.send(system.work("billing"), "order 1");
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const { said, kill } = await start(system, onTestFinished);
        await until(120_000, () => said.includes(`began order 1 ${attempt}`));
        expect(await kill("SIGKILL")).toEqual([null, "SIGKILL"]);
        expect(await system.lab.count(system.dead("billing"))).toBe(0);
      }
      // Only a receive moves the message to the dead queue, so the test starts one more consumer. That consumer never
      // sees it.
      const { said } = await start(system, onTestFinished);
      await untilCount(system, "dead", "billing", 1);
      expect(said).toEqual(["running"]);
      expect(await system.lab.count(system.work("billing"))).toBe(0);
      const letter = await system.lab.receiveWithin(system.dead("billing"), 30_000);
      expect(letter?.Body).toBe("order 1");
      const says = expectedOn("dead-letter-names-source", emulator.name);
      const { "dlq-failure-reason": reason } = describeDeadLetter(letter, system.contract("billing"));
      expect(reason).toBe(says === true ? "ATTEMPTS_EXHAUSTED" : undefined);
    },
  );

  test("a killed process has spent an attempt, and another process gets the message", async ({ onTestFinished }) => {
    const system = await deploy(emulator, { billing: strategies.visibility });
    onTestFinished(system.dispose);
    const { said, kill } = await start(system, onTestFinished);
    await system.lab.send(system.work("billing"), "order 1");
    await until(120_000, () => said.includes("began order 1 1"));
    await kill("SIGKILL");
    const consumer = await consuming(system, "billing", () => {});
    await untilCount(system, "work", "billing", 0);
    await consumer.stop();
    expect(consumer.attemptsOf("order 1")).toEqual([2]);
    expect(await system.lab.count(system.dead("billing"))).toBe(0);
  });

  test("a process that is told to stop returns its message, and ends by itself", async ({ onTestFinished }) => {
    const system = await deploy(emulator, { billing: patient });
    onTestFinished(system.dispose);
    const { said, kill } = await start(system, onTestFinished);
    await system.lab.send(system.work("billing"), "order 1");
    await until(120_000, () => said.includes("began order 1 1"));
    expect(await kill("SIGTERM")).toEqual([0, null]);
    expect(said.at(-1)).toBe("stopped");
    const message = await system.lab.receiveWithin(system.work("billing"), 30_000);
    expect(message?.Body, "long before the 70s of a crash").toBe("order 1");
  });
});
