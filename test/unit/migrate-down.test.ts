import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test, type TestContext } from "vitest";

import { runCommand } from "../support/run-command.ts";

/** A project whose lock has the first declaration, and whose broker is down. */
async function lockedProject(context: TestContext, target: string, first: string) {
  const folder = mkdtempSync(join(tmpdir(), "redeliver-migrate-"));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const save = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  const url = `http://guest@127.0.0.1:${port}/%2F`;
  save(
    "redeliver.config.yaml",
    `declaration: shop.yaml\nenvironments: { prod: { target: ${target}, managementUrl: "${url}" } }\n`,
  );
  const declare = (retry: string, names = ""): void =>
    save("shop.yaml", `name: shop\n${names}consumers: { billing: { retry: ${retry} } }\n`);
  declare(first);
  const project = ["--project", join(folder, "redeliver.config.yaml")];
  expect(await runCommand(["lock", ...project])).toMatchObject({ code: 0 });
  const lock = (): string => readFileSync(join(folder, "redeliver.lock.json"), "utf8");
  return { declare, lock, migrate: async (...words: string[]) => runCommand(["migrate", ...project, ...words]) };
}

test.for(["--next", "--apply"])("a broker that is down ends migrate %s, and the lock stays", async (how, context) => {
  const steady = "attempts: 3, backoff: { kind: constant, delay: 5s";
  const { declare, lock, migrate } = await lockedProject(context, "rabbitmq@4.3", `{ ${steady} } }`);
  const before = lock();
  declare(`{ ${steady}, jitter: 20% } }`);
  const said = await migrate(how);
  expect(said).toMatchObject({ code: 2, out: "" });
  expect(said.error).toContain("RD407");
  expect(said.error).not.toContain("redeliver.lock.json");
  expect(lock()).toBe(before);
});

test("a migration that weakens a promise begins only with a word of consent", async (context) => {
  const retry = (attempts: number): string => `{ attempts: ${attempts}, backoff: { kind: constant, delay: 10s } }`;
  const staged = "{ broker: rabbitmq, version: '4.3', strategy: staged }";
  const { declare, lock, migrate } = await lockedProject(context, staged, retry(12));
  const before = lock();
  // Both generations of the queue would need the shared exchanges under one name.
  declare(retry(12), "names: { shared: '{system}-x' }\n");
  const refused = await migrate("--apply");
  expect([refused.code, refused.out]).toEqual([1, ""]);
  expect(refused.error).toMatch(/^warning\[RD304\]: a message that waits during the change can have 23 attempts/);
  expect(refused.error).toMatch(/^ {2}fix {2}make the change while .*, with --accept-weaker$/m);
  const json = await migrate("--apply", "--json");
  expect(JSON.parse(json.out)).toMatchObject({ ok: false, diagnostics: [{ code: "RD304" }] });
  const agreed = await migrate("--apply", "--accept-weaker");
  expect([agreed.code, agreed.error]).toEqual([2, expect.stringContaining("RD407")]);
  // Here steps keep the promise, so they need no such word.
  declare(retry(3));
  expect(await migrate("--apply")).toMatchObject({ code: 2, error: expect.stringContaining("RD407") });
  expect(lock()).toBe(before);
});
