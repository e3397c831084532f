import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { expect, inject, test } from "vitest";

import { run } from "../../src/cli/run.ts";
import { brokers, checkSystem, compile, type CompiledSystem, type TargetInput } from "../../src/index.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { type Broker, createVhost } from "../support/live.ts";
import { createManagement, type JsonObject } from "../support/management.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Random systems on a live broker, each in a virtual host of its own. `diff` finds no difference to any of them.

const folder = temporaryFolder("diff-random");
const perBroker = Number(process.env["REDELIVER_SYSTEMS"] ?? 10);
const seed = Number(process.env["REDELIVER_SEED"] ?? 20);

interface Drawn {
  readonly declaration: unknown;
  readonly target: TargetInput<"rabbitmq">;
  readonly compiled: CompiledSystem<"rabbitmq">;
}

function drawnFor({ version }: Broker): readonly Drawn[] {
  const drawn: Drawn[] = [];
  for (const [declaration, { strategy, deadQueue }] of fc.sample(fc.tuple(anySystem, anyTarget), {
    numRuns: 2_000,
    seed,
  })) {
    const system = checkSystem(declaration);
    const target = { broker: "rabbitmq", version, strategy, deadQueue } as TargetInput<"rabbitmq">;
    const compiled = system.ok ? compile(system.value, target) : system;
    // An exchange of a plugin needs the plugin.
    if (compiled.ok && compiled.value.topology.exchanges.every(({ pluginType }) => pluginType === undefined))
      drawn.push({ declaration, target, compiled: compiled.value });
    if (drawn.length === perBroker) return drawn;
  }
  throw new Error(`only ${drawn.length} systems compile`);
}

test.each(inject("brokers"))(
  "on RabbitMQ $fullVersion random systems are no difference",
  { timeout: 600_000 },
  async (broker) => {
    const management = createManagement(broker.managementUrl);
    const differences = await Promise.all(
      drawnFor(broker).map(async ({ declaration, target, compiled }, index) => {
        const { vhost, dispose } = await createVhost(broker);
        for (const { name, kind, owner } of compiled.topology.exchanges)
          if (owner === "other") await management.declareExchange(vhost, name, { type: kind, durable: true });
        const definitions = brokers.rabbitmq.exportFormats["definitions"]?.(compiled, vhost) as JsonObject;
        await management.importDefinitions(definitions);
        const [file, targetFile, output] = ["system", "target", "output"].map((name) =>
          join(folder, `${broker.version}-${index}-${name}.json`),
        ) as [string, string, string];
        writeFileSync(file, JSON.stringify(declaration));
        writeFileSync(targetFile, JSON.stringify(target));
        const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(vhost)}`;
        const code = await run(["diff", file, "--target", targetFile, "--url", url, "--json", "--output", output]);
        const { differences: found } = JSON.parse(readFileSync(output, "utf8")) as { readonly differences: unknown };
        await dispose();
        return [code, found];
      }),
    );
    expect(differences).toEqual(Array.from({ length: perBroker }, () => [0, []]));
  },
);
