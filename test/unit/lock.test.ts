import { execFileSync } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { CompiledSystem, Contract } from "../../src/index.ts";
import type { Costs } from "../../src/report/costs.ts";
import { type Said, runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("lock");

const project = join(folder, "redeliver.config.yaml");
const lock = join(folder, "redeliver.lock.json");

function declare(attempts: number, name = "shop", rest = ""): void {
  const consumer = `{ from: { orders: all }, retry: { attempts: ${attempts}, backoff: { kind: constant, delay: 5s } }${rest} }`;
  writeFileSync(
    join(folder, "shop.yaml"),
    `name: ${name}\nsources: { orders: { kind: topic } }\nconsumers: { billing: ${consumer} }\n`,
  );
}

function configure(target: string): void {
  writeFileSync(project, `declaration: shop.yaml\nenvironments: { dev: ${target}, prod: ${target} }\n`);
}

const redeliver = async (...words: readonly string[]): Promise<Said> => runCommand([...words, "--project", project]);

beforeEach(() => {
  rmSync(lock, { force: true });
  declare(5);
  configure("{ target: { broker: rabbitmq, version: '4.3', strategy: staged } }");
});

test("check says that nothing changes, or proves the change from the lock of its environment", async () => {
  expect((await redeliver("check", "--env", "prod")).out).not.toContain("change");
  expect(await redeliver("lock", "--env", "prod")).toMatchObject({ code: 0, error: "" });
  expect((await redeliver("check", "--env", "prod")).out).toContain(`change from ${lock}\nnone: this is deployed`);
  expect((await redeliver("check", "--env", "dev")).out).not.toContain("change");
  declare(3);
  const said = await redeliver("check", "--env", "prod");
  expect(said).toMatchObject({ code: 0, error: "" });
  expect(said.out).toMatch(/change from .*\nproved {3}billing: \d+ states during the change, 5 attempts at most/);
  const json = JSON.parse((await redeliver("check", "--env", "prod", "--json")).out) as { change: object };
  expect(json.change).toMatchObject({ isDeployed: false, verdicts: [{ consumer: "billing", attempts: 5 }] });
  await redeliver("lock", "--env", "prod");
  expect((await redeliver("check", "--env", "prod")).out).toContain("none: this is deployed");
  declare(12);
  await redeliver("lock", "--env", "prod");
  declare(3);
  const fix =
    "fix  run redeliver migrate --env prod, which has 2 proved steps, with new queues for billing; or make the change while";
  expect((await redeliver("check", "--env", "prod")).error).toContain(fix);
});

test("a change that no deployment makes is refused, and the lock stays as it was", async () => {
  await redeliver("lock", "--env", "prod");
  const before = readFileSync(lock, "utf8");
  configure("{ target: { broker: rabbitmq, version: '4.3', strategy: native } }");
  expect((await redeliver("check", "--env", "prod")).error).toContain("error[RD302]");
  const { code, error } = await redeliver("lock", "--env", "prod");
  expect(code).toBe(1);
  expect(error).toContain(
    "fix  run redeliver migrate --env prod, which has 2 proved steps, with new queues for billing; or name",
  );
  expect(await redeliver("migrate", "--env", "prod")).toMatchObject({ code: 0 });
  // Without a lock there is no environment to name, and to some changes there are no steps.
  const [shop, old] = ["shop.yaml", "old.yaml"].map((name) => join(folder, name)) as [string, string];
  copyFileSync(shop, old);
  const from = ["--target", "rabbitmq@4.3", "--strategy", "native", "--from", old, "--from-target", "rabbitmq@4.0"];
  const fromFile = await redeliver("check", shop, ...from);
  configure("{ target: { broker: rabbitmq, version: '3.13', strategy: waits } }");
  const [ofLock, steps] = [await redeliver("check", "--env", "prod"), await redeliver("migrate", "--env", "prod")];
  for (const said of [fromFile, ofLock]) {
    expect(said.error).toContain("error[RD302]");
    expect(said.error).not.toContain("redeliver migrate");
  }
  expect(steps).toMatchObject({ code: 1 });
  configure("{ target: { broker: rabbitmq, version: '4.3', strategy: native } }");
  expect(readFileSync(lock, "utf8")).toBe(before);
  expect(await redeliver("lock", "--env", "prod", "--replace")).toMatchObject({ code: 0 });
  expect((await redeliver("check", "--env", "prod")).out).toContain("none: this is deployed");
});

test("auto keeps the strategy of the lock, and says why if it cannot", async () => {
  configure("{ target: { broker: rabbitmq, version: '4.3', strategy: staged } }");
  await redeliver("lock", "--env", "prod");
  configure("{ target: rabbitmq@4.3 }");
  const strategyIn = async (environment: string): Promise<unknown> =>
    (JSON.parse((await redeliver("contract", "billing", "--env", environment, "--json")).out) as Contract).strategy;
  expect([await strategyIn("dev"), await strategyIn("prod")]).toEqual(["native", "staged"]);
  expect((await redeliver("check", "--env", "prod")).out).toContain("none: this is deployed");
  const said = async (environment: string) => {
    const jsonOf = async (command: string): Promise<unknown> =>
      JSON.parse((await redeliver(command, "--env", environment, "--json")).out);
    const { choices } = (await jsonOf("compile")) as CompiledSystem;
    const { costs } = (await jsonOf("plan")) as { readonly costs: readonly Costs[] };
    const staged = costs.find(({ strategy }) => strategy === "staged");
    const isStaged = isDeepStrictEqual(costs[0]?.resources, staged?.resources);
    return { reason: choices[0]?.reason, kept: costs[0]?.keptByLock, isStaged };
  };
  const reason = expect.stringMatching(/^the lock keeps it: a tier/) as unknown;
  expect(await said("prod")).toEqual({ reason, kept: ["billing"], isStaged: true });
  expect(await said("dev")).toMatchObject({ kept: undefined, isStaged: false });
  expect((await redeliver("plan", "--env", "prod")).out).toContain("auto, kept by the lock");
  declare(4);
  expect(await redeliver("lock", "--env", "prod")).toMatchObject({ code: 0 });
  expect(await strategyIn("prod")).toBe("staged");
  const shop = join(folder, "shop.yaml");
  writeFileSync(shop, readFileSync(shop, "utf8").replace("delay: 5s", 'delay: 5s, jitter: "20%"'));
  const { out, error, code } = await redeliver("check", "--env", "prod");
  expect([code, out]).toEqual([1, ""]);
  expect(error).toContain("error[RD302]");
  expect(error).toContain("staged on rabbitmq@4.3 cannot keep this");
});

test("environments are in the order of their names, so the order of commands changes nothing", async () => {
  await redeliver("lock", "--env", "prod");
  await redeliver("lock", "--env", "dev");
  const one = readFileSync(lock, "utf8");
  rmSync(lock);
  await redeliver("lock", "--env", "dev");
  await redeliver("lock", "--env", "prod");
  expect(readFileSync(lock, "utf8")).toBe(one);
});

test.each([
  ["an edited declaration", (text: string) => text.replace('"attempts": 5', '"attempts": 4')],
  ["an edited target", (text: string) => text.replace('"strategy": "staged"\n', '"strategy": "waits"\n')],
  ["another version of the file", (text: string) => text.replace('"lock": 1', '"lock": 2')],
  ["a conflict", (text: string) => `<<<<<<< HEAD\n${text}=======\n${text}>>>>>>> other\n`],
  ["half of the file", (text: string) => text.slice(0, text.length / 2)],
  ["an empty file", () => ""],
] as const)("a lock with %s is refused, and nothing changes", async (_, edit) => {
  await redeliver("lock", "--env", "prod");
  const edited = edit(readFileSync(lock, "utf8"));
  writeFileSync(lock, edited);
  for (const command of ["check", "lock"]) {
    const said = await redeliver(command, "--env", "prod");
    expect(said).toMatchObject({ code: 1 });
    expect(said.error.match(/error\[RD\d+\]/g)).toEqual(["error[RD323]"]);
  }
  expect(readFileSync(lock, "utf8")).toBe(edited);
});

test("a queue that a removed consumer left behind passes to no other one, unless it is the same under another name", async () => {
  const shop = join(folder, "shop.yaml");
  const consumer = (text: string): void => {
    declare(5, "shop");
    writeFileSync(shop, readFileSync(shop, "utf8").replace(/billing: \{(.*)\} \}$/m, `${text.replace("}", ",$1}")} }`));
  };
  const late = "late: { queue: shop.billing }";
  await redeliver("lock", "--env", "prod");
  expect(readFileSync(lock, "utf8")).not.toContain('"held"');
  consumer("mail: { order: none }");
  expect(await redeliver("lock", "--env", "prod")).toMatchObject({ code: 0 });
  await redeliver("lock", "--env", "prod");
  const before = readFileSync(lock, "utf8");
  consumer(late);
  for (const command of ["check", "lock", "migrate"]) {
    const said = await redeliver(command, "--env", "prod");
    expect(said).toMatchObject({ code: 1 });
    expect(said.error).toContain("the queue shop.billing belonged to billing of shop and would belong to late");
    expect(said.error).not.toContain("redeliver migrate");
  }
  expect(readFileSync(lock, "utf8")).toBe(before);
  consumer("late: { formerly: billing }");
  expect(await redeliver("check", "--env", "prod")).toMatchObject({ code: 0 });
  consumer(late);
  writeFileSync(lock, before.replace('"consumer": "billing"', '"consumer": "late"'));
  expect((await redeliver("check", "--env", "prod")).error).toContain("error[RD323]");
  // --replace forgets the queue that a person has removed.
  writeFileSync(lock, before);
  expect(await redeliver("lock", "--env", "prod", "--replace")).toMatchObject({ code: 0 });
  expect(readFileSync(lock, "utf8")).not.toContain('"held"');
  expect((await redeliver("check", "--env", "prod")).out).toContain("none: this is deployed");
});

test("after an update of Redeliver the deployed declaration is locked again, with the queues that stayed", async () => {
  const shop = join(folder, "shop.yaml");
  const deployed = readFileSync(shop, "utf8");
  await redeliver("lock", "--env", "prod");
  writeFileSync(shop, deployed.replace("billing:", "mail: { order: none,").replace("{ order: none, {", "{"));
  await redeliver("lock", "--env", "prod");
  const now = readFileSync(lock, "utf8");
  expect(now).toContain('"held"');
  const [compiled = ""] = /"compiled": "\w+"/.exec(now) ?? [];
  const otherwise = now.replace(compiled, '"compiled": "0123456789abcdef"');
  const older = otherwise.replace(/"redeliver": "[^"]+"/, '"redeliver": "0.0.9"');
  for (const text of [otherwise, older]) {
    writeFileSync(lock, text);
    expect((await redeliver("check", "--env", "prod")).error).toContain("error[RD323]");
  }
  expect(await redeliver("lock", "--env", "prod")).toMatchObject({ code: 0 });
  expect(readFileSync(lock, "utf8")).toBe(now);
  // An edited lock of this version, and another declaration, stay refused.
  writeFileSync(lock, otherwise);
  expect(await redeliver("lock", "--env", "prod")).toMatchObject({ code: 1 });
  writeFileSync(lock, older);
  writeFileSync(shop, deployed);
  expect((await redeliver("lock", "--env", "prod")).error).toContain("error[RD323]");
});

test("a consumer whose instances get queues of their own keeps no strategy", async () => {
  await redeliver("lock", "--env", "prod");
  configure("{ target: rabbitmq@4.3 }");
  const shop = join(folder, "shop.yaml");
  writeFileSync(shop, readFileSync(shop, "utf8").replace(/retry: .*$/m, "delivery: every-instance } }"));
  const said = await redeliver("migrate", "--env", "prod");
  expect(said).toMatchObject({ code: 0, error: "" });
  expect(said.out).toContain('strategies: { "billing-before": staged }');
  expect(said.out).toContain("billing gets a queue of each instance. billing-before drains shop.billing");
});

test("check says that nothing is compared without a lock, and refuses without the one that git has", async (context) => {
  context.onTestFinished(() => rmSync(join(folder, ".git"), { recursive: true }));
  const git = (...words: readonly string[]): void => {
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], { cwd: folder });
  };
  const check = async (environment: string, format: string): Promise<Said> =>
    redeliver("check", "--env", environment, "--format", format);
  git("init", "-q");
  const none = "not compared with what is deployed: ";
  expect(await check("prod", "text")).toMatchObject({ code: 0, out: expect.stringContaining(none) });
  expect((await check("prod", "github")).out).toContain("::notice");
  expect(JSON.parse((await check("prod", "json")).out)).toMatchObject({ change: null });
  await redeliver("lock", "--env", "prod");
  expect((await check("dev", "text")).out).toContain(`${none}${lock} has no environment dev.`);
  git("add", "redeliver.lock.json");
  git("commit", "-qm", "Lock");
  for (const remove of [() => rmSync(lock), () => git("commit", "-qam", "Remove it")]) {
    remove();
    const gone = await check("prod", "text");
    expect(gone).toMatchObject({ code: 1, error: expect.stringContaining("error[RD323]: the lock is gone") });
  }
});

test("the lock of another system is refused, and so is a lock without an environment", async () => {
  await redeliver("lock", "--env", "prod");
  declare(5, "market");
  expect((await redeliver("check", "--env", "prod")).error).toContain('the lock is that of the system "shop"');
  expect(await redeliver("lock", "--env", "prod", "--replace")).toMatchObject({ code: 1 });
  const shop = join(folder, "shop.yaml");
  writeFileSync(shop, `formerly: shop\n${readFileSync(shop, "utf8")}`);
  expect((await redeliver("check", "--env", "prod")).out).toContain("none: this is deployed");
  const said = await runCommand(["lock", join(folder, "shop.yaml"), "--target", "rabbitmq@4.3"]);
  expect(said).toMatchObject({ code: 2 });
  expect(said.error).toContain("a lock belongs to an environment of a project file");
});
