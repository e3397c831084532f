import { describe, expect, onTestFinished, test } from "vitest";

import { brokers as compilers } from "../../src/index.ts";
import { docker } from "../support/broker-images.ts";
import { deploy, type DeployedSystem } from "../support/deployed-system.ts";
import { oneConsumer } from "../support/examples.ts";
import { brokers } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { withQueues } from "../support/strategies.ts";

async function deployed(...given: Parameters<typeof deploy>): Promise<DeployedSystem> {
  const system = await deploy(...given);
  onTestFinished(system.dispose);
  return system;
}

describe.each(brokers())("the definitions file on $fullVersion", (broker) => {
  test("imports a second time without a change, and the broker exports the compiled topology", async () => {
    const system = await deployed(broker, oneConsumer(), withQueues(broker.version));
    const management = createManagement(broker.managementUrl);
    const before = await management.exportDefinitions(system.vhost);
    const { topology } = system.compiled;
    const names = (key: string): string[] => (before[key] as { name: string }[]).map((each) => each.name).toSorted();
    expect(names("queues")).toEqual(topology.queues.map((each) => each.name).toSorted());
    expect(names("exchanges")).toEqual(topology.exchanges.map((each) => each.name).toSorted());
    expect(names("policies")).toEqual(topology.policies.map((each) => each.name).toSorted());
    expect(before["bindings"]).toHaveLength(topology.bindings.length);
    await management.importDefinitions(
      compilers.rabbitmq.exportFormats["definitions"]?.(system.compiled, system.vhost) as never,
    );
    expect(await management.exportDefinitions(system.vhost)).toEqual(before);
  });

  test.runIf(broker.containerId !== undefined)("imports with rabbitmqctl", async () => {
    const system = await deployed(broker, oneConsumer(), "waits");
    const file = JSON.stringify(compilers.rabbitmq.exportFormats["definitions"]?.(system.compiled, system.vhost));
    const encoded = Buffer.from(file).toString("base64");
    const command = `echo ${encoded} | base64 -d > /tmp/definitions.json && PATH=$PATH:/usr/lib/rabbitmq/bin rabbitmqctl import_definitions /tmp/definitions.json`;
    await expect(docker("exec", broker.containerId ?? "", "sh", "-c", command)).resolves.toContain("Successfully");
  });
});
