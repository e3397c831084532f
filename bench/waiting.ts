import amqplib from "amqplib";

import { consume } from "../src/consume/index.ts";
import type { TargetInput } from "../src/index.ts";
import { brokers, compile, constant, defineSystem } from "../src/index.ts";
import { type StartedBroker, startBroker } from "../test/support/broker-containers.ts";
import { createManagement, type JsonObject } from "../test/support/management.ts";

// Measures the broker's memory while many messages wait for their second attempt, on a fresh RabbitMQ 4.3 for each
// strategy: `node bench/waiting.ts [messages] [strategy, …]`. A million take ten minutes and a gigabyte.

const [count = "1000000", ...wanted] = process.argv.slice(2);
const messages = Number(count);
const strategies = (["native", "deferred", "staged", "waits"] as const).filter(
  (each) => wanted.length === 0 || wanted.includes(each),
);
type Strategy = (typeof strategies)[number];
const body = Buffer.from(JSON.stringify({ text: "x".repeat(390) }));

async function measure(strategy: Strategy): Promise<void> {
  const started = await startBroker("4.3");
  try {
    const { amqpUrl, managementUrl } = started.broker;
    const system = defineSystem({
      name: strategy,
      sources: { orders: { kind: "topic" } },
      consumers: {
        billing: {
          from: { orders: "all" },
          retry: { attempts: 4, backoff: constant("3h") },
          protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
        },
      },
    });
    const target: TargetInput<"rabbitmq"> = { broker: "rabbitmq", version: "4.3", strategy };
    const compiled = compile(system, target);
    if (!compiled.ok) throw new Error("the system of the benchmark is refused");
    await createManagement(managementUrl).importDefinitions(
      brokers.rabbitmq.exportFormats["definitions"]?.(compiled.value, "/") as JsonObject,
    );
    const before = await memoryOf(started);
    const start = performance.now();
    let handled = 0;
    const running = await consume(
      system,
      "billing",
      { target, connection: { url: amqpUrl }, concurrency: 500, breaker: false },
      async () => {
        handled += 1;
        throw new Error("again");
      },
    );
    await fill(amqpUrl, `${strategy}.orders`, () => handled);
    while (handled < messages) await new Promise((resolve) => setTimeout(resolve, 100));
    await running.stop();
    const durationMs = performance.now() - start;
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    const after = await memoryOf(started);
    const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);
    console.log(
      `${strategy}: ${messages} messages of 400 bytes wait after ${(durationMs / 1_000).toFixed(0)} s; ${mb(after.total - before.total)} MB more than the empty broker's ${mb(before.total)} MB, ${((after.total - before.total) / messages).toFixed(0)} bytes each; quorum queues ${mb(after.queues - before.queues)} MB`,
    );
  } finally {
    await started.stop();
  }
}

/** The consumer stays at most 20,000 messages behind, so that the figure is that of waiting messages. */
async function fill(url: string, exchange: string, handled: () => number): Promise<void> {
  const connection = await amqplib.connect(url);
  const channel = await connection.createConfirmChannel();
  for (let index = 0; index < messages; index++) {
    channel.publish(exchange, "order.placed", body, { messageId: `m${index}`, persistent: true });
    if (index % 1_000 !== 0) continue;
    await channel.waitForConfirms();
    while (index - handled() > 20_000) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await channel.waitForConfirms();
  await connection.close();
}

async function memoryOf({ exec }: StartedBroker): Promise<{ readonly total: number; readonly queues: number }> {
  await exec(["rabbitmqctl", "force_gc"]);
  const report = JSON.parse(await exec(["rabbitmqctl", "--quiet", "--formatter", "json", "status"])) as {
    readonly memory: Readonly<Record<string, number>> & { readonly total: Readonly<Record<string, number>> };
  };
  const { total, quorum_queue_procs: procs = 0, quorum_ets: tables = 0 } = report.memory;
  return { total: total["allocated"] ?? Number.NaN, queues: procs + tables };
}

for (const strategy of strategies) await measure(strategy);
process.exit(0);
