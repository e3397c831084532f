import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { runCommand } from "../support/run-command.ts";

test.for(["--next", "--apply"])("a broker that is down ends migrate %s, and the lock stays", async (how, context) => {
  const folder = mkdtempSync(join(tmpdir(), "redeliver-migrate-"));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const save = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  const project = join(folder, "redeliver.config.yaml");
  const url = `http://guest@127.0.0.1:${port}/%2F`;
  save(
    "redeliver.config.yaml",
    `declaration: shop.yaml\nenvironments: { prod: { target: rabbitmq@4.3, managementUrl: "${url}" } }\n`,
  );
  const shop = (jitter: string): string =>
    `name: shop\nconsumers: { billing: { retry: { attempts: 3, backoff: { kind: constant, delay: 5s${jitter} } } } }\n`;
  save("shop.yaml", shop(""));
  expect(await runCommand(["lock", "--project", project])).toMatchObject({ code: 0 });
  const lock = readFileSync(join(folder, "redeliver.lock.json"), "utf8");
  save("shop.yaml", shop(", jitter: 20%"));
  const said = await runCommand(["migrate", "--project", project, how]);
  expect(said).toMatchObject({ code: 2, out: "" });
  expect(said.error).toContain("RD407");
  expect(said.error).not.toContain("redeliver.lock.json");
  expect(readFileSync(join(folder, "redeliver.lock.json"), "utf8")).toBe(lock);
});
