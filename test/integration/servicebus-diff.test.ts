import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { startLab } from "@redeliver/servicebus-emulator";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";

import { run } from "../../src/cli/run.ts";
import { checkSystem } from "../../src/declare/check.ts";
import type { Sku } from "../../src/brokers/servicebus/compile/capabilities.ts";
import { compile, type SystemInput } from "../../src/index.ts";
import type { JudgedDifference } from "../../src/migrate/judge-drift.ts";
import { inTurn } from "../support/in-turn.ts";
import { anyServicebusDeclaration, anyServicebusTarget } from "../support/servicebus-declarations.ts";
import { applyToEmulator } from "../support/servicebus/apply.ts";
import { type DeployedSystem, deploy } from "../support/servicebus/deployed-system.ts";
import { registerServicebus } from "../support/servicebus/register.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("diff");

interface Answer {
  readonly code: number;
  readonly differences: readonly JudgedDifference[];
}

type Administered = Pick<DeployedSystem["lab"], "emulator" | "administration">;

/** Tests run one after the other, because the key is in the environment of all. */
async function diff({ emulator }: Administered, declaration: unknown, target: readonly string[]): Promise<Answer> {
  const [file, output] = [join(folder, `${randomUUID()}.json`), join(folder, randomUUID())];
  writeFileSync(file, JSON.stringify(declaration));
  const { managementConnectionString } = emulator;
  vi.stubEnv("SERVICEBUS_CONNECTION_STRING", managementConnectionString);
  const host = /Endpoint=sb:\/\/([^/;]*)/.exec(managementConnectionString)?.[1] ?? "";
  const code = await run(["diff", file, "--url", `servicebus:${host}`, ...target, "--json", "--output", output]);
  return { code, ...(JSON.parse(readFileSync(output, "utf8")) as Omit<Answer, "code">) };
}

const consumers = {
  billing: {
    from: { orders: ["order.placed", "order.#"] },
    retry: { attempts: 3, backoff: { kind: "constant", delay: "20s" } },
    handlerTimeout: "30s",
  },
};
const shop = { name: "shop", sources: { orders: { kind: "topic" } }, consumers };

interface Drift {
  readonly change: (administration: Administered["administration"]) => Promise<unknown>;
  readonly found: readonly (readonly [JudgedDifference["effect"], JudgedDifference["change"], string])[];
}

const work = "shop.billing";
const topic = "shop.orders";
const changeQueue =
  (changed: object): Drift["change"] =>
  async (administration) =>
    administration.updateQueue({ ...(await administration.getQueue(work)), ...changed });

const firstRule = (name: string) => ({ defaultRuleOptions: { name, filter: { sqlExpression: "1=0" } } });

async function ruleOf(administration: Administered["administration"], isSql: boolean): Promise<string> {
  for await (const { name, filter } of administration.listRules(topic, "billing"))
    if (name !== "$Default" && "sqlExpression" in filter === isSql) return name;
  throw new Error("no rule");
}

const drifts: Readonly<Record<string, Drift>> = {
  nothing: { change: async () => {}, found: [] },
  "a deleted work queue": {
    change: async (administration) => administration.deleteQueue(work),
    found: [["loss", "missing", work]],
  },
  "a deleted subscription": {
    change: async (administration) => administration.deleteSubscription(topic, "billing"),
    found: [["loss", "missing", "shop.orders/billing"]],
  },
  "a deleted topic": {
    change: async (administration) => administration.deleteTopic(topic),
    found: [
      ["loss", "missing", topic],
      ["loss", "missing", "shop.orders/billing"],
    ],
  },
  "a deleted rule": {
    change: async (administration) => administration.deleteRule(topic, "billing", await ruleOf(administration, true)),
    found: [["loss", "different", "shop.orders/billing"]],
  },
  "a changed filter": {
    change: async (administration) => {
      const rule = await administration.getRule(topic, "billing", await ruleOf(administration, false));
      return administration.updateRule(topic, "billing", { ...rule, filter: { subject: "refund" } });
    },
    found: [["otherwise", "different", "shop.orders/billing"]],
  },
  "a narrower filter that takes the examples of the proof": {
    change: async (administration) => {
      const rule = await administration.getRule(topic, "billing", await ruleOf(administration, true));
      const sqlExpression = "(sys.Label = 'order' OR sys.Label LIKE 'order.%') AND NOT sys.Label = 'order.cancelled'";
      return administration.updateRule(topic, "billing", { ...rule, filter: { sqlExpression } });
    },
    found: [["loss", "different", "shop.orders/billing"]],
  },
  "a rule that lets in everything": {
    change: async (administration) => administration.createRule(topic, "billing", "all", { sqlExpression: "1=1" }),
    found: [["otherwise", "different", "shop.orders/billing"]],
  },
  "no dead-lettering on expiry, and a time to live": {
    change: changeQueue({ defaultMessageTimeToLive: "PT1M", deadLetteringOnMessageExpiration: false }),
    found: [["loss", "different", work]],
  },
  "one delivery more": { change: changeQueue({ maxDeliveryCount: 9 }), found: [["otherwise", "different", work]] },
  "a queue that goes away": { change: changeQueue({ autoDeleteOnIdle: "PT1H" }), found: [["loss", "different", work]] },
  "a disabled queue": { change: changeQueue({ status: "Disabled" }), found: [["otherwise", "different", work]] },
  "an extra subscription that doubles messages": {
    change: async (administration) => administration.createSubscription(topic, "more", { forwardTo: work }),
    found: [["otherwise", "extra", "shop.orders/more"]],
  },
  "an extra subscription that lets nothing in": {
    change: async (administration) =>
      administration.createSubscription(topic, "more", { forwardTo: work, ...firstRule("$Default") }),
    found: [],
  },
  "an extra subscription whose rule `$Default` is unknown": {
    change: async (administration) =>
      administration.createSubscription(topic, "more", { forwardTo: work, ...firstRule("nothing") }),
    found: [["otherwise", "extra", "shop.orders/more"]],
  },
  "a subscription of another team on the topic": {
    change: async (administration) => administration.createSubscription(topic, "reports"),
    found: [],
  },
  "a queue of another team that forwards into the work queue": {
    change: async (administration) => administration.createQueue("theirs", { forwardTo: work }),
    found: [["otherwise", "extra", "theirs"]],
  },
};

describe("diff on the emulator of Service Bus", { timeout: 120_000 }, () => {
  test.for(Object.entries(drifts))("%s", async ([, { change, found }], { onTestFinished }) => {
    const { lab } = await deploy(onTestFinished, consumers);
    await change(lab.administration);
    const answer = await diff(lab, shop, ["--target", "servicebus@standard"]);
    expect(answer.differences.map((each) => [each.effect, each.change, each.name])).toEqual(
      found.map(([effect, kind, name]) => [effect, kind, name]),
    );
    expect(answer.code).toBe(found.length === 0 ? 0 : 1);
  });

  test(
    "whatever compiles, applied and read back, is no difference",
    { timeout: 400_000 },
    async ({ onTestFinished }) => {
      let compiledCount = 0;
      const drawn = fc.sample(fc.tuple(anyServicebusDeclaration, anyServicebusTarget), { numRuns: 200, seed: 7 });
      for (const [declaration, { sku, strategy = "auto" }] of drawn) {
        const target = { broker: "servicebus", sku, strategy } as const;
        const system = checkSystem(declaration as SystemInput);
        if (!system.ok || !compile(system.value, target).ok) continue;
        compiledCount += 1;
        const { resources } = await inTurn(async () => registerServicebus(system.value, target));
        const lab = await startLab(onTestFinished, { sku: sku as Sku });
        await applyToEmulator(lab.administration, resources, sku as Sku);
        const chosen = ["--target", `servicebus@${sku}`, "--strategy", strategy];
        const answer = await diff(lab, declaration, chosen);
        expect(answer.differences, JSON.stringify([declaration, chosen])).toEqual([]);
        expect(answer.code).toBe(0);
      }
      expect(compiledCount).toBeGreaterThan(5);
    },
  );

  test("a key of another namespace, and none, are one diagnostic", async ({ onTestFinished }) => {
    const lab = await startLab(onTestFinished);
    const file = join(folder, "shop.json");
    writeFileSync(file, JSON.stringify(shop));
    const words = ["diff", file, "--url", "servicebus:other", "--target", "servicebus@standard"];
    vi.stubEnv("SERVICEBUS_CONNECTION_STRING", lab.emulator.managementConnectionString);
    expect(await run(words)).toBe(2);
    vi.stubEnv("SERVICEBUS_CONNECTION_STRING", "");
    expect(await run(words)).toBe(3);
  });
});
