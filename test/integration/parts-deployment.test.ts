import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, inject, onTestFinished, test } from "vitest";

import { modelledEngine, pulumiEngine } from "../support/change/engines.ts";
import type { Deployment } from "../support/change/registered.ts";
import { checked } from "../support/examples.ts";
import { createVhost } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";
import { runSeparately } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const how = hasPulumiCli ? "pulumi up" : "the model of Pulumi's engine (there is no pulumi on PATH)";
console.log(`[parts-deployment] what runs: ${how}`);

const consumer = (attempts: number) => ({
  from: { orders: ["order.placed"] },
  retry: { attempts, backoff: { kind: "constant", delay: "1s" } },
});
const shop = (mail: number) =>
  checked({
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: { billing: consumer(3), mail: consumer(mail) },
  });

const orders = [
  ["billing", "mail"],
  ["mail", "billing"],
] as const;

test.for(inject("brokers").flatMap((broker) => orders.map((order) => ({ broker, order, name: order.join(", ") }))))(
  "on $broker.fullVersion the stacks of two teams and the shared one make one system: $name",
  { timeout: 600_000 },
  async ({ broker, order }) => {
    const { vhost, dispose } = await createVhost(broker);
    onTestFinished(dispose);
    const management = createManagement(broker.managementUrl);
    const beside = hasPulumiCli ? await pulumiEngine(broker) : undefined;
    const shared = beside ?? (await modelledEngine(broker));
    onTestFinished(shared.dispose);
    const another = async () => {
      const engine = await (beside === undefined ? modelledEngine(broker) : pulumiEngine(broker, beside));
      onTestFinished(engine.dispose);
      return engine;
    };
    const engines = { billing: await another(), mail: await another() };
    const deployment = (attempts: number, own: "shared" | keyof typeof engines): Deployment => ({
      component: own,
      vhost,
      version: broker.version,
      strategy: broker.version === "3.10" ? "waits" : "staged",
      system: shop(attempts),
      part: own === "shared" ? own : { consumers: [own], stack: beside?.stack ?? "" },
    });
    const file = join(temporaryFolder("parts", onTestFinished), "shop.json");
    const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(vhost)}`;
    const differs = async (attempts: number): Promise<string> => {
      writeFileSync(file, JSON.stringify(shop(attempts)));
      const target = `rabbitmq@${broker.version}`;
      const words = ["--target", target, "--strategy", deployment(attempts, "shared").strategy, "--url", url];
      const { code, out } = await runSeparately(["diff", file, ...words]);
      return code === 0 ? "" : out;
    };

    // Only the real engine knows the outputs of another stack.
    if (hasPulumiCli) {
      expect(await engines[order[0]].up(deployment(3, order[0]))).toContain("First deploy the stack with part");
      // An update of the shared stack that fails makes nothing, and its output says so.
      expect(await shared.up({ ...deployment(3, "shared"), vhost: "none" })).not.toBeNull();
      expect(await engines[order[0]].up(deployment(3, order[0]))).toContain("First deploy the stack with part");
      expect(await management.queues(vhost)).toEqual([]);
    }
    expect(await shared.up(deployment(3, "shared"))).toBeNull();
    for (const own of order) expect(await engines[own].up(deployment(3, own))).toBeNull();
    expect(await differs(3)).toBe("");

    // One more attempt needs a tier or a wait. Its stack comes after the shared one, and the other has nothing to do.
    if (hasPulumiCli && broker.version !== "3.10")
      expect(await engines.mail.up(deployment(4, "mail"))).toContain("First deploy the stack with part");
    expect(await shared.up(deployment(4, "shared"))).toBeNull();
    expect(await engines.mail.up(deployment(4, "mail"))).toBeNull();
    expect(await differs(4)).toBe("");
    expect(await engines.billing.up(deployment(4, "billing"))).toBeNull();
    expect(await differs(4)).toBe("");

    // The shared stack refuses another kind of a source, and its output stays that of the update before.
    if (hasPulumiCli) {
      const system = checked({ ...shop(4), sources: { orders: { kind: "direct" } } });
      expect(await shared.up({ ...deployment(4, "shared"), system })).toContain("RD302");
      expect(await engines.billing.up({ ...deployment(4, "billing"), system })).toContain("First deploy the stack");
      expect(await differs(4)).toBe("");
    }
  },
);
