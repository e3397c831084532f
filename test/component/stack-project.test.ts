import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, expect, test, vi } from "vitest";

import { type Deployed, readDeployed } from "../../src/migrate/deployed.ts";
import { lockWith, withGoing } from "../../src/migrate/lock.ts";
import { runExample } from "../support/example-program.ts";
import { resourcesOf } from "../support/pulumi.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("stack");
afterEach(() => vi.unstubAllEnvs());

const declaration = {
  name: "store",
  sources: { orders: { kind: "topic" } },
  consumers: {
    billing: {
      from: { orders: ["order.placed"] },
      retry: { attempts: 5, backoff: { kind: "constant", delay: "30s" } },
      handlerTimeout: "30s",
    },
  },
};
writeFileSync(join(folder, "store.json"), JSON.stringify(declaration));
writeFileSync(join(folder, "store.ts"), `export default ${JSON.stringify(declaration)};\n`);

async function deployed(project: object, stack: string, config: Readonly<Record<string, unknown>>) {
  const file = join(folder, "redeliver.config.json");
  writeFileSync(file, JSON.stringify(project));
  vi.stubEnv("REDELIVER_PROJECT", file);
  return runExample("stacks/index.ts", { stack, config, secretKeys: ["redeliver:password"] });
}

const environments = {
  prod: { target: "sqs@eu-west-1" },
  staging: { target: { broker: "rabbitmq", version: "4.0", strategy: "staged" } },
};
const access = {
  "redeliver:vhost": "/",
  "redeliver:endpoint": "http://localhost:15672",
  "redeliver:username": "guest",
  "redeliver:password": "x",
};

test.each(["store.json", "store.ts"])("a stack deploys %s with the target of its environment", async (file) => {
  const run = await deployed({ declaration: file, environments }, "prod", {});
  const names = resourcesOf(run, "Queue").map(({ inputs }) => [inputs["name"], inputs["region"]]);
  expect(names).toContainEqual(["store-billing", "eu-west-1"]);
  expect(resourcesOf(run, "RetryTopology").map(({ name }) => name)).toEqual(["store"]);
});

test("a stack has the names of its environment", async () => {
  const prod = { ...environments.prod, names: { queue: "prod-{consumer}" } };
  const run = await deployed({ declaration: "store.ts", environments: { prod } }, "prod", {});
  const names = resourcesOf(run, "Queue").map(({ inputs }) => inputs["name"]);
  expect(names.toSorted()).toEqual(["prod-billing", "prod-billing-dead", "prod-billing-undelivered"]);
});

test("a target of the configuration wins, and the rest of the configuration counts", async () => {
  const run = await deployed({ declaration: "store.json", environments }, "staging", access);
  expect(resourcesOf(run, "Queue").map(({ inputs }) => inputs["name"])).toContain("store.billing");
  const other = { broker: "sqs", region: "eu-north-1" };
  const won = await deployed({ declaration: "store.json", environments }, "prod", { "redeliver:target": other });
  expect(resourcesOf(won, "Queue")[0]?.inputs["region"]).toBe("eu-north-1");
});

test.each([
  ["an environment of another name", { declaration: "store.json", environments }, "dev", /target/],
  [
    "a bad target",
    { declaration: "store.json", environments: { dev: { target: "sqs@nowhere" } } },
    "dev",
    /target.region/,
  ],
  ["a project without a declaration", { environments }, "prod", /The project file is refused[^]*RD321/],
  [
    "a waiver that has ended",
    { declaration: "store.json", environments, waivers: [{ code: "RD207", reason: "test", until: "2020-01-31" }] },
    "prod",
    /The project file is refused[^]*RD322/,
  ],
])("%s is refused before anything is deployed", async (_, project, stack, says) => {
  await expect(deployed(project, stack, {})).rejects.toThrow(says);
});

test("auto keeps the strategy that the lock has", async () => {
  const file = join(folder, "redeliver.lock.json");
  const side = sideOf(declaration, { ...environments.staging.target, strategy: "waits" });
  const lock = lockWith(null, "staging", side, "0.1.0");
  if (!lock.ok) throw new Error("it is a lock");
  const automatic = { staging: { target: "rabbitmq@4.0" } };
  const queuesOf = async (name: string) => {
    const run = await deployed({ declaration: name, environments: automatic }, "staging", access);
    return resourcesOf(run, "Queue");
  };
  const queues = async (): Promise<readonly unknown[]> =>
    (await queuesOf("store.json")).map(({ inputs }) => inputs["name"]);
  const without = await queues();
  writeFileSync(file, JSON.stringify(lock.value));
  const withLock = await queues();
  // A renamed system goes on with its lock and with all resources, also in the state.
  const renamed = { ...declaration, name: "market", formerly: "store" };
  writeFileSync(join(folder, "market.json"), JSON.stringify(renamed));
  expect(await queuesOf("market.json")).toEqual(await queuesOf("store.json"));
  rmSync(file);
  expect(without).toContain("store.attempt.2.30s");
  expect(withLock).toContain("store.wait.30000ms");
});

test("during a migration a stack deploys the present step", async () => {
  const target = { broker: "rabbitmq", version: "4.0", strategy: "staged" };
  const lock = lockWith(null, "staging", sideOf(declaration, target), "0.1.0");
  const [billing] = Object.values(declaration.consumers);
  const consumers = { ...declaration.consumers, before: { ...billing, queue: "before" } };
  const step = sideOf({ ...declaration, consumers }, { ...target, strategies: { before: "waits" } });
  if (!lock.ok) throw new Error("it is a lock");
  const last = sideOf({ ...declaration, consumers: { billing: { ...billing, queue: "after" } } }, target);
  const going = { asked: "", phase: 0, since: "2026-11-25T09:00:00Z", steps: [step, last] };
  const file = join(folder, "redeliver.lock.json");
  writeFileSync(file, JSON.stringify(withGoing(lock.value, "staging", going)));
  const run = await deployed({ declaration: "store.json", environments }, "staging", access);
  expect(resourcesOf(run, "Queue").map(({ inputs }) => inputs["name"])).toContain("before");
  expect(run.log.join("\n")).toContain(
    "This is step 1 of 2 of a migration. It ends when these queues are empty: store.",
  );
  writeFileSync(file, "{");
  await expect(deployed({ declaration: "store.json", environments }, "staging", access)).rejects.toThrow(/RD323/);
  rmSync(file);
});

function sideOf(system: object, target: object): Deployed {
  const side = readDeployed(system, target);
  if (side === null) throw new Error("it compiles");
  return side;
}

test("without a Node that runs TypeScript, one line says so", () => {
  const program = new URL("../../stacks/index.mjs", import.meta.url).href;
  const words = ["--no-experimental-strip-types", "--input-type=module", "--eval"];
  const script = `import(${JSON.stringify(program)}).catch(({ message, __pulumiRunError }) => console.log(__pulumiRunError, message))`;
  const { stdout } = spawnSync(process.execPath, [...words, script], { encoding: "utf8" });
  expect(stdout).toBe(
    `true Redeliver needs Node 22.18 or newer, and this is ${process.version}: npm exec -c "pulumi up" uses the Node in node_modules\n`,
  );
});
