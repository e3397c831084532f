import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";

import { runBilling, shop } from "../../examples/consume-billing.ts";
import type { Running } from "../../src/consume/index.ts";
import { startChargingServer } from "../support/charging-server.ts";
import { type DeployedSystem, deploy, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";

const root = resolve(import.meta.dirname, "../..");

function publish({ channel }: DeployedSystem, order: { readonly id: string; readonly total?: number }): void {
  channel.publish("shop.orders", "order.placed", Buffer.from(JSON.stringify(order)), { messageId: order.id });
}

/** Takes out the dead letters and returns their reasons. */
async function reasonsIn(system: DeployedSystem): Promise<readonly unknown[]> {
  const letters = await system.drain("shop.billing.dead");
  return letters.map(({ properties }) => properties.headers?.["dlq-failure-reason"] as unknown);
}

for (const broker of brokers())
  describe.runIf(broker.version === "4.3")(`on ${broker.version}`, () => {
    test("the example of docs/consuming.md charges, waits as long as the API asks, and gives up", async () => {
      const asked: string[] = [];
      const server = await startChargingServer((path) => {
        const id = path.split("/").at(-1) ?? "";
        asked.push(id);
        const isFirst = asked.filter((each) => each === id).length === 1;
        return id === "nobody" ? 404 : id === "busy" && isFirst ? 429 : 200;
      });
      onTestFinished(server.stop);
      const system = await deploy(broker, shop, "auto");
      const running = await runBilling({ url: system.url, managementUrl: broker.managementUrl }, server.url);
      for (const id of ["fine", "busy", "nobody"]) publish(system, { id, total: 9 });
      publish(system, { id: "no total" });
      await system.channel.waitForConfirms();
      const reasons: unknown[] = [];
      await until(60_000, async () => {
        reasons.push(...(await reasonsIn(system)));
        return reasons.length === 2 && asked.length === 4;
      });
      expect(reasons.toSorted()).toEqual(["UNKNOWN_CUSTOMER", "UNREADABLE_MESSAGE"]);
      expect(asked.toSorted()).toEqual(["busy", "busy", "fine", "nobody"]);
      await running.stop();
      await system.dispose();
    });

    test("the declaration and the consumer of the README charge, try again, and give up", async () => {
      const readme = readFileSync(resolve(root, "README.md"), "utf8");
      const folder = resolve(root, "out/readme-consumer");
      mkdirSync(folder, { recursive: true });
      onTestFinished(() => rmSync(folder, { recursive: true }));
      for (const name of ["shop.ts", "consumer.ts"]) {
        const block = new RegExp(`^\`\`\`ts\\n(// ${name}\\n[\\s\\S]*?)^\`\`\`$`, "m").exec(readme)?.[1];
        writeFileSync(resolve(folder, name), block ?? "");
      }
      const asked: string[] = [];
      const server = await startChargingServer((path, body) => {
        const { id } = JSON.parse(body) as { readonly id: string };
        asked.push(`${path} ${id}`);
        if (id === "nobody") return 404;
        return id === "down" && asked.filter((each) => each.endsWith(" down")).length === 1 ? 503 : 200;
      });
      onTestFinished(server.stop);
      const { default: declared } = (await import(/* @vite-ignore */ resolve(folder, "shop.ts"))) as {
        default: unknown;
      };
      const system = await deploy(broker, declared, "auto");
      vi.stubEnv("AMQP_URL", system.url);
      vi.stubEnv("PAYMENTS_URL", server.url);
      onTestFinished(() => void vi.unstubAllEnvs());
      const before = process.listeners("SIGTERM");
      const { running } = (await import(/* @vite-ignore */ resolve(folder, "consumer.ts"))) as { running: Running };
      const stopped = process.listeners("SIGTERM").filter((each) => !before.includes(each));
      for (const id of ["fine", "down", "nobody"]) publish(system, { id });
      await system.channel.waitForConfirms();
      const reasons: unknown[] = [];
      await until(60_000, async () => {
        reasons.push(...(await reasonsIn(system)));
        return reasons.length === 1 && asked.length === 4;
      });
      expect(reasons).toEqual(["UNKNOWN_CUSTOMER"]);
      expect(asked.toSorted()).toEqual(["/charges down", "/charges down", "/charges fine", "/charges nobody"]);
      expect(stopped).toHaveLength(1);
      for (const each of stopped) {
        process.off("SIGTERM", each);
        each("SIGTERM");
      }
      await running.stop();
      expect(running.health().state).toBe("stopped");
      await system.dispose();
    });
  });
