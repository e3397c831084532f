import { performance } from "node:perf_hooks";

import { checkSystem } from "../src/index.ts";
import { readDeployed } from "../src/migrate/deployed.ts";
import { planMigration } from "../src/migrate/plan-migration.ts";

// Plans and proves a change of a system of 1,000 consumers, some of which get another strategy. It prints JSON, and
// main.ts starts it in its own process.
const [moving = "1"] = process.argv.slice(2);
const size = 1_000;

function declare(changed: number): Parameters<typeof checkSystem>[0] {
  const consumers = Array.from({ length: size }, (_, index) => {
    const jitter = index < changed ? { jitter: "20%" } : {};
    const backoff = { kind: "constant", delay: `${1 + (index % 50)}s`, ...jitter };
    return [`consumer-${index}`, { from: { orders: [`kind-${index}`] }, retry: { attempts: 4, backoff } }] as const;
  });
  return { name: "bench", sources: { orders: { kind: "topic" } }, consumers: Object.fromEntries(consumers) };
}

const deployed = readDeployed(declare(0), { broker: "rabbitmq", version: "4.3" });
const wanted = checkSystem(declare(Number(moving)));
if (deployed === null || !wanted.ok) throw new Error("the declarations of the benchmark are refused");
const start = performance.now();
const planned = planMigration(deployed, wanted.value, deployed.target);
const durationMs = performance.now() - start;
if (!planned.ok) throw new Error("there is no plan");
console.log(JSON.stringify({ consumers: size, moved: planned.value.moved.length, durationMs }));
