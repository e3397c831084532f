import { parseArgs } from "node:util";

import { startBroker } from "../support/broker-containers.ts";
import { brokerVersions } from "../support/broker-images.ts";
import type { Broker } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { coverageOf } from "./coverage.ts";
import { createRunner } from "./live-runner.ts";
import { casesOf, describeDifferences, runBatch, semanticsVersionOfBroker } from "./run-batch.ts";

/**
 * The long run: `node test/differential/main.ts --cases 20000 [--seed 1] [--only 17]`.
 *
 * It runs on the broker of RABBITMQ_URL and RABBITMQ_MANAGEMENT_URL, or else on a container of each version. Its exit
 * code is 1 if a broker and the semantics differ.
 */
const batchSize = 300;

const { values } = parseArgs({
  options: { cases: { type: "string", default: "1000" }, seed: { type: "string" }, only: { type: "string" } },
});
const total = Number(values.cases);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);

async function main(): Promise<number> {
  const fromEnvironment = await brokerOfEnvironment();
  let different = 0;
  for (const start of fromEnvironment === null
    ? brokerVersions.map((version) => async () => startBroker(version, console.log))
    : [async () => ({ broker: fromEnvironment, stop: async () => {} })]) {
    const { broker, stop } = await start();
    try {
      different += await runOn(broker);
    } finally {
      await stop();
    }
  }
  return different === 0 ? 0 : 1;
}

async function brokerOfEnvironment(): Promise<Broker | null> {
  const { RABBITMQ_URL: amqpUrl, RABBITMQ_MANAGEMENT_URL: managementUrl } = process.env;
  if (amqpUrl === undefined || managementUrl === undefined) return null;
  const { rabbitmq_version: fullVersion } = await createManagement(managementUrl).overview();
  const version = fullVersion.split(".").slice(0, 2).join(".");
  return { version, fullVersion, amqpUrl, managementUrl, origin: "environment" };
}

async function runOn(broker: Broker): Promise<number> {
  const version = semanticsVersionOfBroker(broker);
  console.log(`RabbitMQ ${broker.fullVersion} (rules of ${version}), seed ${seed}, ${total} cases`);
  const all = casesOf(seed, total, version);
  const cases = values.only === undefined ? all : all.slice(Number(values.only), Number(values.only) + 1);
  console.log("cases whose course depends on a feature:", coverageOf(cases, version));
  const runner = await createRunner(broker, version);
  const sum = { cases: 0, steps: 0, incomparable: 0, different: 0, unrepeated: 0 };
  try {
    for (let first = 0; first < cases.length; first += batchSize) {
      const startedAt = performance.now();
      const report = await runBatch(
        runner,
        cases.slice(first, first + batchSize),
        values.only === undefined ? first : Number(values.only),
      );
      sum.cases += report.cases;
      sum.steps += report.steps;
      sum.incomparable += report.incomparable;
      sum.different += report.different.length;
      sum.unrepeated += report.unrepeated.length;
      if (report.different.length > 0) console.log(describeDifferences(report.different, seed));
      if (report.unrepeated.length > 0) console.log(`not seen again:\n${describeDifferences(report.unrepeated, seed)}`);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      console.log(
        `${sum.cases} cases, ${sum.steps} actions, ${sum.incomparable} stopped where nothing can be compared, ${sum.different} different, ${sum.unrepeated} not seen again (${seconds} s)`,
      );
    }
  } finally {
    await runner.dispose();
  }
  return sum.different;
}

process.exitCode = await main();
