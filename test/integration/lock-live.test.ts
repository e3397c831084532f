import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, inject, test } from "vitest";

import { deploy } from "../support/deployed-system.ts";
import { createManagement, credentialsOf } from "../support/management.ts";
import { type Said, runSeparately } from "../support/run-command.ts";

// A lost lock is made again from a running broker, with strategies that nothing but the broker knows.

const consumer = { from: { orders: "all" }, retry: { attempts: 3, backoff: { kind: "constant", delay: "5s" } } };
const shop = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: consumer, mail: consumer } };

test.concurrent.each(inject("brokers"))(
  "on RabbitMQ $fullVersion the lock is made from the running broker, or refused",
  { timeout: 180_000 },
  async (broker) => {
    const strategies = { mail: "waits" } as const;
    const { vhost, compiled, dispose } = await deploy(broker, shop, "auto", undefined, { strategies });
    const folder = mkdtempSync(join(tmpdir(), "redeliver-lock-live-"));
    try {
      const [project, lock] = [join(folder, "redeliver.config.yaml"), join(folder, "redeliver.lock.json")];
      const { origin } = new URL(broker.managementUrl);
      const target = `{ target: rabbitmq@${broker.version}, managementUrl: "${origin}/${vhost}" }`;
      writeFileSync(project, `declaration: shop.json\nenvironments: { prod: ${target} }\n`);
      writeFileSync(join(folder, "shop.json"), JSON.stringify(shop));
      const { user, password } = credentialsOf(broker.managementUrl);
      const redeliver = async (...words: readonly string[]): Promise<Said> =>
        runSeparately([...words, "--project", project], { RABBITMQ_USERNAME: user, RABBITMQ_PASSWORD: password });
      expect(await redeliver("lock", "--live")).toMatchObject({ code: 0 });
      const text = readFileSync(lock, "utf8");
      const { consumers } = (JSON.parse(text) as { environments: { prod: { consumers: object } } }).environments.prod;
      const deployed = compiled.contracts.map(({ consumer, strategy }) => [consumer, { strategy }]);
      expect(consumers).toMatchObject(Object.fromEntries(deployed) as object);
      expect((await redeliver("check")).out).toContain("none: this is deployed");
      const management = createManagement(broker.managementUrl);
      await management.delete(`bindings/${encodeURIComponent(vhost)}/e/shop.orders/q/shop.mail/%23`);
      const refused = await redeliver("lock", "--live");
      expect([refused.code, refused.error.match(/error\[RD\d+\]/g)]).toEqual([1, ["error[RD311]"]]);
      expect(refused.error).toContain('shop.orders to the queue shop.mail with the key "#" is missing');
      expect(readFileSync(lock, "utf8")).toBe(text);
    } finally {
      rmSync(folder, { recursive: true });
      await dispose();
    }
  },
);
