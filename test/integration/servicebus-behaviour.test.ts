import { describe, expect, inject, test } from "vitest";

import { diagnoseEmulatorConfig, exportEmulatorConfig } from "../../src/brokers/servicebus/make/export.ts";
import { behaviours, notOnMicrosofts, sharedBehaviours } from "../support/servicebus/behaviours/all-behaviours.ts";
import { deployBehaviour, onMicrosofts, sharedTopology } from "../support/servicebus/deploy-behaviour.ts";
import { emulatorConfigSchema } from "../support/servicebus/emulator-config-schema.ts";

const officialServicebus = inject("officialServicebus");
/** Source: Service Bus documentation, "Overview of the Azure Service Bus emulator". */
const mostConnections = 10;

// Concurrent, because each test mostly waits for locks and delays.
describe.concurrent("a deployed topology, driven by its contract, on the emulator in the tests' process", () => {
  for (const [name, behaviour] of Object.entries(behaviours)) {
    test(name, async ({ onTestFinished }) => {
      const system = await deployBehaviour(onTestFinished, behaviour);
      await behaviour.run(system, expect);
      if (Object.hasOwn(notOnMicrosofts, name)) return;
      expect(system.lab.emulator.mostConnections(), "Microsoft's takes no more").toBeLessThanOrEqual(mostConnections);
    });
  }
});

// Sequential, because Microsoft's emulator allows 10 connections and expects tests in sequence.
if (officialServicebus !== null) {
  describe("a deployed topology, driven by its contract, on Microsoft's emulator", () => {
    for (const [name, behaviour] of sharedBehaviours) {
      test(name, { timeout: 120_000 }, async ({ onTestFinished }) => {
        await behaviour.run(onMicrosofts(onTestFinished, behaviour, officialServicebus), expect);
      });
    }
  });
}

describe("the configuration file for Microsoft's emulator", () => {
  test("is within its limits, and fits its published schema", () => {
    const topology = sharedTopology();
    const found = diagnoseEmulatorConfig({ topology });
    expect(found.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(emulatorConfigSchema.safeParse(exportEmulatorConfig(topology)).error).toBeUndefined();
  });

  test.each(["$Default", "", "order placed", "-order"])("may not name a rule %j", (Name) => {
    const { UserConfig } = exportEmulatorConfig(sharedTopology());
    const Rules = [{ Name, Properties: { FilterType: "Sql", SqlFilter: { SqlExpression: "1=1" } } }];
    const [namespace] = emulatorConfigSchema.parse({ UserConfig }).UserConfig.Namespaces;
    const topics = namespace.Topics.map((each) => ({
      ...each,
      Subscriptions: each.Subscriptions.map((subscription) => ({ ...subscription, Rules })),
    }));
    const changed = { ...UserConfig, Namespaces: [{ ...namespace, Topics: topics }] };
    expect(emulatorConfigSchema.safeParse({ UserConfig: changed }).success).toBe(false);
  });

  test("has every case under its own names: no queue and no subscription is there twice", () => {
    const { queues, subscriptions } = sharedTopology();
    const names = [...queues, ...subscriptions].map(({ kind, name }) => `${kind} ${name.toLowerCase()}`);
    expect(new Set(names).size).toBe(names.length);
  });
});
