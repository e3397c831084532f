import amqplib from "amqplib";
import type { ConsumeMessage } from "amqplib";

import { consume } from "../src/consume/index.ts";
import type { System, TargetInput } from "../src/index.ts";
import { brokers, compile, constant, defineSystem, immediate } from "../src/index.ts";
import { startBroker } from "../test/support/broker-containers.ts";
import { createManagement } from "../test/support/management.ts";
import type { JsonObject } from "../test/support/management.ts";

// Compares consumers with hand-written ones that do the same, on one RabbitMQ 4.3, and prints JSON. main.ts starts it
// in its own process.
const messages = 10_000;
const retriedMessages = 2_000;
const attempts = 4;
const rounds = Number(process.argv[2] ?? 5);
const concurrency = 100;
const vhost = "bench-consume";

const strategies = ["native", "deferred", "staged", "waits"] as const;
type Strategy = (typeof strategies)[number];

/** The shortest delay that the strategy really waits out: the figure shows the cost of a retry, and not its delay. */
function systemFor(strategy: Strategy): System {
  const retry = { attempts, backoff: strategy === "native" || strategy === "deferred" ? immediate() : constant("1ms") };
  const protocol = strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1";
  return defineSystem({
    name: strategy,
    sources: { orders: { kind: "topic" } },
    consumers: { billing: { from: { orders: "all" }, retry, protocol } },
  });
}

function targetFor(strategy: Strategy): TargetInput<"rabbitmq"> {
  return { broker: "rabbitmq", version: "4.3", strategy };
}

interface Figure {
  readonly perSecond: number;
  /** Processor time of this process for one message. */
  readonly cpuMicroseconds: number;
}

/** Fills the strategy's queue, then measures until every message is handled. */
async function measure(
  url: string,
  strategy: Strategy,
  count: number,
  handlings: number,
  start: (handled: () => void) => Promise<() => Promise<void>>,
): Promise<Figure> {
  await fill(url, strategy, count);
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
  // The last acknowledgements are still on their way.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await stop();
  const durationMs = performance.now() - startedAt - 50;
  const { user, system: kernel } = process.cpuUsage(before);
  return { perSecond: (handlings / durationMs) * 1_000, cpuMicroseconds: (user + kernel) / handlings };
}

async function fill(url: string, strategy: Strategy, count: number): Promise<void> {
  const connection = await amqplib.connect(url);
  const channel = await connection.createConfirmChannel();
  const body = Buffer.from(JSON.stringify({ id: 1, text: "x".repeat(400) }));
  for (let index = 0; index < count; index++)
    channel.publish(`${strategy}.orders`, "order.placed", body, { messageId: `m${index}`, persistent: true });
  await channel.waitForConfirms();
  await connection.close();
}

/** The hand-written consumers use only the queue of this compiled system. */
const queue = "native.billing";

/** A consumer as people write it by hand, which only acknowledges. */
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

/** A consumer as people write it by hand. It publishes a copy with a count, and acknowledges after the confirm. */
async function handWrittenRetries(url: string, handled: () => void): Promise<() => Promise<void>> {
  const connection = await amqplib.connect(url, { noDelay: true });
  const channel = await connection.createChannel();
  const publisher = await connection.createConfirmChannel();
  await channel.prefetch(concurrency);
  const handler = async (_body: unknown, attempt: number): Promise<void> => {
    handled();
    if (attempt < attempts) throw new Error("again");
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

async function redelivered(
  url: string,
  strategy: Strategy,
  handled: () => void,
  lastAttempt: number,
): Promise<() => Promise<void>> {
  const running = await consume(
    systemFor(strategy),
    "billing",
    { target: targetFor(strategy), connection: { url }, concurrency, breaker: false },
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
  for (const strategy of strategies) {
    const compiled = compile(systemFor(strategy), targetFor(strategy));
    if (!compiled.ok) throw new Error("the system of the benchmark is refused");
    await management.importDefinitions(
      brokers.rabbitmq.exportFormats["definitions"]?.(compiled.value, vhost) as JsonObject,
    );
  }
  return `${amqpUrl.replace(/\/[^/@]*$/, "")}/${vhost}`;
}

interface Round {
  readonly ack: { readonly hand: Figure; readonly own: Figure };
  readonly retry: { readonly hand: Figure; readonly own: Readonly<Record<Strategy, Figure>> };
}

async function playRound(url: string): Promise<Round> {
  const ack = {
    hand: await measure(url, "native", messages, messages, (handled) => handWritten(url, handled)),
    own: await measure(url, "native", messages, messages, (handled) => redelivered(url, "native", handled, 1)),
  };
  const handlings = retriedMessages * attempts;
  const hand = await measure(url, "native", retriedMessages, handlings, (handled) => handWrittenRetries(url, handled));
  const own: Partial<Record<Strategy, Figure>> = {};
  for (const strategy of strategies)
    own[strategy] = await measure(url, strategy, retriedMessages, handlings, (handled) =>
      redelivered(url, strategy, handled, attempts),
    );
  return { ack, retry: { hand, own: own as Record<Strategy, Figure> } };
}

const { RABBITMQ_URL: givenUrl, RABBITMQ_MANAGEMENT_URL: givenManagementUrl } = process.env;
const started = givenUrl === undefined ? await startBroker("4.3") : null;
const [amqpUrl, managementUrl] =
  started === null
    ? [givenUrl ?? "", givenManagementUrl ?? ""]
    : [started.broker.amqpUrl, started.broker.managementUrl];
try {
  const url = await setUp(amqpUrl, managementUrl);
  // The first round warms up.
  await playRound(url);
  const played: Round[] = [];
  for (let round = 0; round < rounds; round++) played.push(await playRound(url));
  const retries = Object.fromEntries(
    strategies.map((strategy) => [
      strategy,
      played.map(({ retry }) => ({ hand: retry.hand, own: retry.own[strategy] })),
    ]),
  );
  console.log(JSON.stringify({ messages, acks: played.map(({ ack }) => ack), retries }));
} finally {
  await createManagement(managementUrl).deleteVhost(vhost);
  await started?.stop();
}
