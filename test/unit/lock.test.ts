import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type Said, runCommand } from "../support/run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "redeliver-lock-"));
afterAll(() => rmSync(folder, { recursive: true }));

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
  expect(said).toMatchObject({ code: 0 });
  expect(said.out).toMatch(/change from .*\nproved {3}billing: \d+ states during the change, 5 attempts at most/);
  const json = JSON.parse((await redeliver("check", "--env", "prod", "--json")).out) as { change: object };
  expect(json.change).toMatchObject({ isDeployed: false, verdicts: [{ consumer: "billing", attempts: 5 }] });
  await redeliver("lock", "--env", "prod");
  expect((await redeliver("check", "--env", "prod")).out).toContain("none: this is deployed");
});

test("a change that no deployment makes is refused, and the lock stays as it was", async () => {
  await redeliver("lock", "--env", "prod");
  const before = readFileSync(lock, "utf8");
  configure("{ target: { broker: rabbitmq, version: '4.3', strategy: native } }");
  expect((await redeliver("check", "--env", "prod")).error).toContain("error[RD302]");
  expect(await redeliver("lock", "--env", "prod")).toMatchObject({ code: 1 });
  expect(readFileSync(lock, "utf8")).toBe(before);
  expect(await redeliver("lock", "--env", "prod", "--replace")).toMatchObject({ code: 0 });
  expect((await redeliver("check", "--env", "prod")).out).toContain("none: this is deployed");
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

test("the lock of another system is refused, and so is a lock without an environment", async () => {
  await redeliver("lock", "--env", "prod");
  declare(5, "market");
  expect((await redeliver("check", "--env", "prod")).error).toContain('the lock is that of the system "shop"');
  expect(await redeliver("lock", "--env", "prod", "--replace")).toMatchObject({ code: 1 });
  const said = await runCommand(["lock", join(folder, "shop.yaml"), "--target", "rabbitmq@4.3"]);
  expect(said).toMatchObject({ code: 2 });
  expect(said.error).toContain("a lock belongs to an environment of a project file");
});
