import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import type { ProcessInput } from "../support/consume/consumer-process.ts";
import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { checked } from "../support/examples.ts";
import { strategiesOn } from "../support/strategies.ts";
import { strategyCases } from "../support/live.ts";

const cases = strategyCases(strategiesOn);
const source = { exchange: "shop.orders", routingKey: "order.placed" };
const script = resolve(import.meta.dirname, "../support/consume/consumer-process.ts");

interface Started {
  readonly child: ChildProcess;
  readonly lines: string[];
}

describe.concurrent.each(cases)("the consumer's process: $name", ({ broker, strategy }) => {
  const systems: DeployedSystem[] = [];
  const children: ChildProcess[] = [];
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(systems.map((system) => system.dispose()));
  });
  const deployed = async (): Promise<DeployedSystem> => {
    const system = await deploy(broker, billingUnder(strategy), strategy);
    systems.push(system);
    return system;
  };
  const start = async (
    system: DeployedSystem,
    course: Pick<ProcessInput, "handlingMs" | "concurrency" | "stopWithin">,
  ): Promise<Started> => {
    const input: ProcessInput = {
      system: checked(billingUnder(strategy)),
      version: broker.version,
      strategy,
      url: system.url,
      ...course,
    };
    const child = spawn(process.execPath, [script, JSON.stringify(input)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    const lines: string[] = [];
    child.stdout.setEncoding("utf8").on("data", (text: string) => lines.push(...text.split("\n").filter(Boolean)));
    await until(60_000, () => lines.includes("ready"));
    return { child, lines };
  };
  const beganIn = ({ lines }: Started): readonly string[] => lines.filter((line) => line.startsWith("began "));

  test("killed while it handles: the message comes again until its crash budget is spent, and is then dead", async () => {
    const system = await deployed();
    await system.publish(["a"], source);
    for (let crash = 1; crash <= 3; crash++) {
      const started = await start(system, { handlingMs: 600_000, concurrency: 1 });
      await until(60_000, () => beganIn(started).length === 1);
      started.child.kill("SIGKILL");
      await once(started.child, "exit");
    }
    const letters: unknown[] = [];
    await until(60_000, async () => {
      for (const letter of await system.drain("shop.billing.dead")) letters.push(letter.properties.messageId);
      return letters.length > 0;
    });
    expect(letters).toEqual(["a"]);
  });

  test("told to stop while it handles: running handlers finish, and waiting messages return without costing an attempt", async () => {
    const system = await deployed();
    const ids = Array.from({ length: 20 }, (_, index) => `m${index}`);
    await system.publish(ids, source);
    const started = await start(system, { handlingMs: 1_500, concurrency: 4 });
    await until(60_000, () => beganIn(started).length === 4);
    started.child.kill("SIGTERM");
    const [exitCode] = (await once(started.child, "exit")) as [number | null];
    expect(exitCode).toBe(0);
    const began = beganIn(started).map((line) => line.split(" ")[1]);
    const ended = started.lines.filter((line) => line.startsWith("ended ")).map((line) => line.split(" ")[1]);
    expect(ended.toSorted()).toEqual(began.toSorted());
    // The next consumer gets all the others, each at its first attempt.
    const next = await consumeFrom(
      system,
      { broker, declaration: billingUnder(strategy), consumer: "billing", strategy },
      () => undefined,
    );
    await until(60_000, () => next.runs.length >= ids.length - ended.length);
    await next.running.stop();
    expect(next.runs.map((run) => run.id).toSorted()).toEqual(ids.filter((id) => !ended.includes(id)).toSorted());
    expect(new Set(next.runs.map((run) => run.attempt))).toEqual(new Set([1]));
    expect(await system.drain("shop.billing.dead")).toEqual([]);
  });
  test("told to stop with an endless handler: after the time limit the message returns without costing an attempt, and the process ends", async () => {
    const system = await deployed();
    await system.publish(["a", "b"], source);
    const started = await start(system, { handlingMs: null, concurrency: 1, stopWithin: "2s" });
    await until(60_000, () => beganIn(started).length === 1);
    const toldAtMs = performance.now();
    started.child.kill("SIGTERM");
    // The handler's promise is still open.
    expect(await once(started.child, "close")).toEqual([0, null]);
    // The consumer keeps the last quarter of the two seconds for requeueing.
    expect(performance.now() - toldAtMs).toBeGreaterThanOrEqual(1_500);
    expect(started.lines.toSorted()).toEqual(["began a 1", "ready", "stopping"]);
    const next = await consumeFrom(
      system,
      { broker, declaration: billingUnder(strategy), consumer: "billing", strategy },
      () => undefined,
    );
    await until(60_000, () => next.runs.length >= 2);
    await next.running.stop();
    expect(next.runs.map(({ id, attempt }) => [id, attempt]).toSorted()).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    expect(await system.drain("shop.billing.dead")).toEqual([]);
  });
});
