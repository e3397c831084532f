import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, inject, test } from "vitest";

import { run } from "../../src/cli/run.ts";
import { parseText } from "../../src/declare/parse.ts";
import { brokers, compile, type SystemInput } from "../../src/index.ts";
import { pulumiEngine } from "../support/change/engines.ts";
import { accepted, checked } from "../support/examples.ts";
import { createVhost } from "../support/live.ts";
import { type JsonObject, createManagement } from "../support/management.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// A topology that is there, with all kinds of resources, comes under Pulumi by the file that `adopt` writes. The next
// deployment then changes nothing on the broker.

if (!hasPulumiCli) console.warn("[adopt-import] no import was run: there is no pulumi on PATH");

const folder = temporaryFolder("import");

const system = {
  name: "shop",
  sources: { orders: { kind: "topic" } },
  consumers: {
    billing: {
      from: { orders: ["order.#", "*.b c~d!(x)"] },
      retry: { attempts: 4, backoff: { kind: "exponential", first: "1s", factor: 2 } },
    },
    mail: { retry: { attempts: 1, backoff: { kind: "immediate" } }, crash: { deliveries: 2 } },
  },
} as const satisfies SystemInput;

const withTiers = inject("brokers").filter(({ version }) => version !== "3.10");

describe.runIf(hasPulumiCli).for(withTiers)("RabbitMQ $fullVersion", { timeout: 300_000 }, (broker) => {
  test("an adopted topology is unchanged after its import and the next deployment", async ({
    expect,
    onTestFinished,
  }) => {
    const { vhost, dispose } = await createVhost(broker);
    onTestFinished(dispose);
    const target = { broker: "rabbitmq", version: broker.version, strategy: "staged" } as const;
    const compiled = accepted(compile(checked(system), target));
    const definitions = brokers.rabbitmq.exportFormats["definitions"]?.(compiled, vhost) as JsonObject;
    const management = createManagement(broker.managementUrl);
    await management.importDefinitions(definitions);

    const [output, imports] = [join(folder, `${broker.version}.yaml`), join(folder, `${broker.version}.json`)];
    const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(vhost)}`;
    expect(await run(["adopt", "--url", url, "--name", "shop", "--output", output, "--import", imports])).toBe(0);
    const parsed = parseText(readFileSync(output, "utf8"), "yaml");
    const adopted = checked(parsed.ok ? parsed.value : null);

    const engine = await pulumiEngine(broker);
    onTestFinished(engine.dispose);
    const deployment = {
      component: "shop",
      vhost,
      system: adopted,
      version: broker.version,
      strategy: "staged",
    } as const;
    const before = await management.exportDefinitions(vhost);
    const steps = await engine.takeOver(deployment, imports);
    expect(await management.exportDefinitions(vhost)).toEqual(before);
    const { queues, exchanges, bindings, policies } = compiled.topology;
    const own = steps.filter(([type]) => type.startsWith("rabbitmq:"));
    expect(own.length).toBe(queues.length + exchanges.length + bindings.length + policies.length);
    expect(own.filter(([, op]) => op !== "same")).toEqual([]);
  });
});
