import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type Said, runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// The lock is made from the resources on a broker, here from an export of them. A running broker is asked in
// `test/integration/lock-live.test.ts`.

const folder = temporaryFolder("lock-live");

const [project, shop, lock, found] = ["redeliver.config.yaml", "shop.json", "redeliver.lock.json", "found.json"].map(
  (name) => join(folder, name),
) as [string, string, string, string];

const consumer = { from: { orders: "all" }, retry: { attempts: 3, backoff: { kind: "constant", delay: "5s" } } };
const declare = (consumers: object): void =>
  writeFileSync(shop, JSON.stringify({ name: "shop", sources: { orders: { kind: "topic" } }, consumers }));

const redeliver = async (...words: readonly string[]): Promise<Said> => runCommand([...words, "--project", project]);
const exported = async (target: object): Promise<void> => {
  writeFileSync(join(folder, "target.json"), JSON.stringify({ broker: "rabbitmq", version: "4.3", ...target }));
  const words = ["compile", shop, "--target", join(folder, "target.json"), "--format", "definitions", "--vhost", "/"];
  writeFileSync(found, (await runCommand(words)).out);
};
const strategiesIn = (): unknown => {
  const { environments } = JSON.parse(readFileSync(lock, "utf8")) as {
    environments: { prod: { consumers: Record<string, { strategy: string }> } };
  };
  return Object.values(environments.prod.consumers).map(({ strategy }) => strategy);
};

beforeEach(() => {
  rmSync(lock, { force: true });
  writeFileSync(project, "declaration: shop.json\nenvironments: { prod: { target: rabbitmq@4.3 } }\n");
  declare({ billing: consumer, mail: consumer });
});

test.each([
  [{}, ["native", "native"]],
  [{ strategy: "staged" }, ["staged", "staged"]],
  [{ strategies: { billing: "waits", mail: "staged" } }, ["waits", "staged"]],
  [{ strategies: { mail: "waits" } }, ["native", "waits"]],
])("the lock has the strategies on the broker: %j", async (target, strategies) => {
  await exported(target);
  expect(await redeliver("lock", "--definitions", found)).toMatchObject({ code: 0, error: "" });
  expect(strategiesIn()).toEqual(strategies);
  expect((await redeliver("check")).out).toContain("none: this is deployed");
  expect(await redeliver("diff", "--definitions", found)).toMatchObject({ code: 0 });
});

test.each([
  ["a queue is missing", (text: string) => text.replaceAll("shop.mail.dead", "shop.mail.gone"), /shop\.mail\.dead/],
  [
    "a delay differs",
    (text: string) => text.replaceAll('"delayed-retry-min": 5000', '"delayed-retry-min": 7000'),
    /7000/,
  ],
  [
    "another key is bound",
    (text: string) => text.replace('"routing_key": "#"', '"routing_key": "order.*"'),
    /shop\.billing with the key "#" is missing/,
  ],
])("nothing is locked if %s, and the differences are named", async (_, edit, named) => {
  await exported({});
  const text = readFileSync(found, "utf8");
  expect(edit(text)).not.toBe(text);
  writeFileSync(found, edit(text));
  const { code, error } = await redeliver("lock", "--definitions", found);
  expect(code).toBe(1);
  expect(error).toMatch(/\[RD31[123]\]/);
  expect(error).toMatch(named);
  expect(() => readFileSync(lock)).toThrow();
});

test("resources that the declaration leaves behind are no difference", async () => {
  await exported({ strategy: "waits" });
  const consumers = { billing: consumer };
  declare(consumers);
  expect(await redeliver("lock", "--definitions", found)).toMatchObject({ code: 0, error: "" });
  expect(strategiesIn()).toEqual(["waits"]);
});

test("without a broker, or with one of another kind, it is wrong usage", async () => {
  expect(await redeliver("lock", "--live")).toMatchObject({ code: 2 });
  expect(await redeliver("lock", "--url", "sqs:eu-west-1")).toMatchObject({ code: 2 });
});
