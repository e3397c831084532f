import { once } from "node:events";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import type { ProcessInput } from "../support/consume/consumer-process.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { type DeployedSystem, until } from "../support/deployed-system.ts";
import { checked } from "../support/examples.ts";
import { strategiesOn } from "../support/strategies.ts";
import { strategyCases } from "../support/live.ts";

const cases = strategyCases(strategiesOn);
const script = resolve(import.meta.dirname, "../support/consume/consumer-process.ts");

describe.concurrent.each(cases)("the consumer's process: $name", ({ broker, strategy }) => {
  const stage = liveStage(broker);
  const deployed = async (): Promise<DeployedSystem> => stage.deployed(billingUnder(strategy), strategy);
  type Course = Pick<ProcessInput, "handlingMs" | "concurrency" | "stopWithin">;
  const start = async ({ url, declaration }: DeployedSystem, course: Course) => {
    const input: ProcessInput = { system: checked(declaration), version: broker.version, strategy, url, ...course };
    const started = stage.spawned(script, input);
    await until(60_000, () => started.lines.includes("ready"));
    return started;
  };
  const beganIn = ({ lines }: { readonly lines: readonly string[] }): readonly string[] =>
    lines.filter((line) => line.startsWith("began "));

  test("killed while it handles: the message comes again until its crash budget is spent, and is then dead", async () => {
    const system = await deployed();
    await system.publish(["a"]);
    for (let crash = 1; crash <= 3; crash++) {
      const started = await start(system, { handlingMs: 600_000, concurrency: 1 });
      await until(60_000, () => beganIn(started).length === 1);
      started.child.kill("SIGKILL");
      await once(started.child, "exit");
    }
    const letters = await system.deadIds(1);
    expect(letters).toEqual(["a"]);
  });

  test("told to stop while it handles: running handlers finish, and waiting messages return without costing an attempt", async () => {
    const system = await deployed();
    const ids = Array.from({ length: 20 }, (_, index) => `m${index}`);
    await system.publish(ids);
    const started = await start(system, { handlingMs: 1_500, concurrency: 4 });
    await until(60_000, () => beganIn(started).length === 4);
    started.child.kill("SIGTERM");
    const [exitCode] = (await once(started.child, "exit")) as [number | null];
    expect(exitCode).toBe(0);
    const began = beganIn(started).map((line) => line.split(" ")[1]);
    const ended = started.lines.filter((line) => line.startsWith("ended ")).map((line) => line.split(" ")[1]);
    expect(ended.toSorted()).toEqual(began.toSorted());
    // The next consumer gets all the others, each at its first attempt.
    const next = await stage.consumed(system, () => undefined);
    await until(60_000, () => next.runs.length >= ids.length - ended.length);
    await next.running.stop();
    expect(next.runs.map((run) => run.id).toSorted()).toEqual(ids.filter((id) => !ended.includes(id)).toSorted());
    expect(new Set(next.runs.map((run) => run.attempt))).toEqual(new Set([1]));
    expect(await system.drain("shop.billing.dead")).toEqual([]);
  });
  test("told to stop with an endless handler: after the time limit the message returns without costing an attempt, and the process ends", async () => {
    const system = await deployed();
    await system.publish(["a", "b"]);
    const started = await start(system, { handlingMs: null, concurrency: 1, stopWithin: "2s" });
    await until(60_000, () => beganIn(started).length === 1);
    const toldAtMs = performance.now();
    started.child.kill("SIGTERM");
    // The handler's promise is still open.
    expect(await once(started.child, "close")).toEqual([0, null]);
    // The consumer keeps the last quarter of the two seconds for requeueing.
    expect(performance.now() - toldAtMs).toBeGreaterThanOrEqual(1_500);
    expect(started.lines.toSorted()).toEqual(["began a 1", "ready", "stopping"]);
    const next = await stage.consumed(system, () => undefined);
    await until(60_000, () => next.runs.length >= 2);
    await next.running.stop();
    expect(next.runs.map(({ id, attempt }) => [id, attempt]).toSorted()).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    expect(await system.drain("shop.billing.dead")).toEqual([]);
  });
});
