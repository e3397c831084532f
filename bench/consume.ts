import amqplib from "amqplib";
import type { ConsumeMessage } from "amqplib";

import { consume } from "../src/consume/index.ts";
import { brokers, compile, defineSystem, immediate } from "../src/index.ts";
import { startBroker } from "../test/support/broker-containers.ts";
import { createManagement } from "../test/support/management.ts";
import type { JsonObject } from "../test/support/management.ts";

// Consumers beside hand-written ones that do the same, on one RabbitMQ 4.3; prints JSON. Started by main.ts in a process of its own.
const messages = 10_000;
const retriedMessages = 2_000;
const rounds = Number(process.argv[2] ?? 7);
const concurrency = 100;
const vhost = "bench-consume";
const queue = "bench.billing";

const system = defineSystem({
  name: "bench",
  sources: { orders: { kind: "topic" } },
  consumers: { billing: { from: { orders: "all" }, retry: { attempts: 4, backoff: immediate() } } },
});
const target = { broker: "rabbitmq", version: "4.3", strategy: "native" } as const;

interface Figure {
  readonly perSecond: number;
  /** Of this process, for one message. */
  readonly cpuMicroseconds: number;
}

/** Fills the queue, then measures until everything is handled. */
async function measure(
  url: string,
  count: number,
  handlings: number,
  start: (handled: () => void) => Promise<() => Promise<void>>,
): Promise<Figure> {
  await fill(url, count);
  let left = handlings;
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const stop = await start(() => {
    left -= 1;
    if (left === 0) finish();
  });
  await finished;
  // The last messages are still to be acknowledged.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await stop();
  const durationMs = performance.now() - startedAt - 50;
  const { user, system: kernel } = process.cpuUsage(before);
  return { perSecond: (handlings / durationMs) * 1_000, cpuMicroseconds: (user + kernel) / handlings };
}

async function fill(url: string, count: number): Promise<void> {
  const connection = await amqplib.connect(url);
  const channel = await connection.createConfirmChannel();
  const body = Buffer.from(JSON.stringify({ id: 1, text: "x".repeat(400) }));
  for (let index = 0; index < count; index++)
    channel.publish("bench.orders", "order.placed", body, { messageId: `m${index}`, persistent: true });
  await channel.waitForConfirms();
  await connection.close();
}

/** What a person writes who only acknowledges. */
async function handWritten(url: string, handled: () => void): Promise<() => Promise<void>> {
  const connection = await amqplib.connect(url, { noDelay: true });
  const channel = await connection.createChannel();
  await channel.prefetch(concurrency);
  const handler = async (_body: unknown): Promise<void> => handled();
  const handle = async (message: ConsumeMessage): Promise<void> => {
    await handler(JSON.parse(message.content.toString()));
    channel.ack(message);
  };
  await channel.consume(queue, (message) => {
    if (message !== null) void handle(message);
  });
  return async () => {
    await channel.close();
    await connection.close();
  };
}

/** What a person writes who retries by publishing a copy with a count in it, and acknowledges when that is confirmed. */
async function handWrittenRetries(url: string, handled: () => void): Promise<() => Promise<void>> {
  const connection = await amqplib.connect(url, { noDelay: true });
  const channel = await connection.createChannel();
  const publisher = await connection.createConfirmChannel();
  await channel.prefetch(concurrency);
  const handler = async (_body: unknown, attempt: number): Promise<void> => {
    handled();
    if (attempt < 4) throw new Error("again");
  };
  const handle = async (message: ConsumeMessage): Promise<void> => {
    const attempt = Number(message.properties.headers?.["attempt"] ?? 1);
    try {
      await handler(JSON.parse(message.content.toString()), attempt);
    } catch {
      const options = { ...message.properties, headers: { attempt: attempt + 1 }, mandatory: true };
      await new Promise<void>((resolve, reject) => {
        publisher.publish("", queue, message.content, options, (error: unknown) =>
          error === null ? resolve() : reject(error as Error),
        );
      });
    }
    channel.ack(message);
  };
  await channel.consume(queue, (message) => {
    if (message !== null) void handle(message);
  });
  return async () => {
    await channel.close();
    await connection.close();
  };
}

async function redelivered(url: string, handled: () => void, lastAttempt: number): Promise<() => Promise<void>> {
  const running = await consume(
    system,
    "billing",
    { target, connection: { url }, concurrency, breaker: false },
    async (_message, attempt) => {
      handled();
      if (attempt.number < lastAttempt) throw new Error("again");
    },
  );
  return () => running.stop();
}

async function setUp(amqpUrl: string, managementUrl: string): Promise<string> {
  const management = createManagement(managementUrl);
  await management.putVhost(vhost);
  await management.putPermissions(vhost, decodeURIComponent(new URL(amqpUrl).username));
  const compiled = compile(system, target);
  if (!compiled.ok) throw new Error("the system of the benchmark is refused");
  await management.importDefinitions(
    brokers.rabbitmq.exportFormats["definitions"]?.(compiled.value, vhost) as JsonObject,
  );
  return `${amqpUrl.replace(/\/[^/@]*$/, "")}/${vhost}`;
}

const { RABBITMQ_URL: givenUrl, RABBITMQ_MANAGEMENT_URL: givenManagementUrl } = process.env;
const started = givenUrl === undefined ? await startBroker("4.3") : null;
const [amqpUrl, managementUrl] =
  started === null
    ? [givenUrl ?? "", givenManagementUrl ?? ""]
    : [started.broker.amqpUrl, started.broker.managementUrl];
try {
  const url = await setUp(amqpUrl, managementUrl);
  const acks: { hand: Figure; own: Figure }[] = [];
  const retries: { hand: Figure; own: Figure }[] = [];
  for (let round = 0; round < rounds + 1; round++) {
    const ack = {
      hand: await measure(url, messages, messages, (handled) => handWritten(url, handled)),
      own: await measure(url, messages, messages, (handled) => redelivered(url, handled, 1)),
    };
    const retry = {
      hand: await measure(url, retriedMessages, retriedMessages * 4, (handled) => handWrittenRetries(url, handled)),
      own: await measure(url, retriedMessages, retriedMessages * 4, (handled) => redelivered(url, handled, 4)),
    };
    // The first round warms up.
    if (round > 0) {
      acks.push(ack);
      retries.push(retry);
    }
  }
  console.log(JSON.stringify({ messages, acks, retries }));
} finally {
  await createManagement(managementUrl).deleteVhost(vhost);
  await started?.stop();
}
