import { performance } from "node:perf_hooks";

import { startBroker } from "../test/support/broker-containers.ts";
import { pulumiEngine } from "../test/support/change/engines.ts";
import { hasPulumiCli } from "../test/support/pulumi-cli.ts";
import type { SystemInput } from "../src/index.ts";

// Deploys one large system to a broker of its own with Pulumi's engine. It needs Docker, and `pulumi` on PATH.
// `PULUMI_EXPERIMENTAL=true PULUMI_SKIP_CHECKPOINTS=true node bench/scale.ts [consumers] [strategy]`. Otherwise the engine
// writes the whole state after each resource, and the figures are those of the backend.

const [consumers = "300", strategy = "staged"] = process.argv.slice(2);
if (!hasPulumiCli) throw new Error("there is no pulumi on PATH");

function declare(count: number): SystemInput {
  const names = Array.from({ length: count }, (_, index) => `consumer-${index}`);
  return {
    name: "scale",
    sources: { orders: { kind: "topic" } },
    consumers: Object.fromEntries(
      names.map((name) => [
        name,
        {
          from: { orders: [`${name}.placed`] },
          retry: { attempts: 4, backoff: { kind: "constant", delay: "10s" } },
        },
      ]),
    ),
  };
}

const { broker, stop } = await startBroker("4.3");
const engine = await pulumiEngine(broker);
try {
  const deployment = {
    component: "scale",
    vhost: "/",
    version: "4.3",
    strategy,
    system: declare(Number(consumers)),
  } as Parameters<typeof engine.up>[0];
  for (const step of ["first", "without a change"]) {
    const start = performance.now();
    const failure = await engine.up(deployment, { skipPreview: true });
    if (failure !== null) throw new Error(failure);
    console.log(`${consumers} consumers, ${strategy}, ${step}: ${((performance.now() - start) / 1_000).toFixed(1)} s`);
  }
} finally {
  await engine.dispose();
  await stop();
}
process.exit(0);
