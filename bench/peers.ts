import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";

import amqplib from "amqplib";

import { consume } from "../src/consume/index.ts";
import type { System, TargetInput } from "../src/index.ts";
import { brokers, compile, constant, defineSystem } from "../src/index.ts";
import { startBroker } from "../test/support/broker-containers.ts";
import { createManagement } from "../test/support/management.ts";
import type { JsonObject } from "../test/support/management.ts";
import { handWritten, type HandWritten, type Work } from "./peer-topologies.ts";

// Compares retries by each strategy with three hand-written ways, on one RabbitMQ 4.3. Every contender does the same
// work in every round, one after the other. Prints JSON. main.ts starts it in its own process.
const messages = Number(process.argv[3] ?? 5_500);
const rounds = Number(process.argv[2] ?? 3);
const attempts = 4;
const delayMs = 1_000;
const concurrency = 100;

/** Every tenth message fails its last attempt, too. */
const dies = (id: number): boolean => id % 10 === 0;

export interface PeerFigure {
  readonly perSecond: number;
  /** Microseconds of processor time for one retry. */
  readonly clientMicroseconds: number;
  readonly brokerMicroseconds: number;
  /** Milliseconds after the due time. */
  readonly lateMs: { readonly p50: number; readonly p99: number };
  readonly early: number;
  readonly lost: number;
  readonly doubled: number;
}

interface Contender {
  readonly name: string;
  readonly vhost: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly deadQueue: string;
  readonly start: (url: string, work: Work) => Promise<() => Promise<void>>;
}

/** Keeps the times of all attempts, and says how each ends. */
class Recorder {
  readonly failedAtMs: number[][] = Array.from({ length: messages }, () => []);
  readonly lateMs: number[] = [];
  readonly done: Promise<void>;
  doubled = 0;
  #left = messages;
  #finish: () => void = () => undefined;

  constructor() {
    this.done = new Promise((resolve) => (this.#finish = resolve));
  }

  handle(id: number): boolean {
    const failed = this.failedAtMs[id] as number[];
    const before = failed.at(-1);
    if (before !== undefined) this.lateMs.push(performance.now() - before - delayMs);
    if (failed.length === attempts) {
      this.doubled += 1;
      return true;
    }
    failed.push(performance.now());
    if (failed.length < attempts) return false;
    this.#left -= 1;
    if (this.#left === 0) this.#finish();
    return !dies(id);
  }
}

function systemFor(strategy: string): System {
  return defineSystem({
    name: strategy,
    sources: { orders: { kind: "topic" } },
    consumers: {
      billing: {
        from: { orders: "all" },
        retry: { attempts, backoff: constant("1s") },
        protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
      },
    },
  });
}

async function declared(
  name: string,
  contender: HandWritten,
  urlOf: (vhost: string) => Promise<string>,
): Promise<Contender> {
  const vhost = `peers ${name}`;
  const connection = await amqplib.connect(await urlOf(vhost));
  await contender.declare(await connection.createChannel(), {
    attempts,
    delayMs,
    concurrency,
    handle: () => true,
  });
  await connection.close();
  return { ...contender, name, vhost };
}

async function compiled(
  strategy: "native" | "deferred" | "staged" | "waits",
  urlOf: (vhost: string) => Promise<string>,
): Promise<Contender> {
  const vhost = `peers ${strategy}`;
  const target: TargetInput<"rabbitmq"> = { broker: "rabbitmq", version: "4.3", strategy };
  const system = systemFor(strategy);
  const result = compile(system, target);
  if (!result.ok) throw new Error("the system of the benchmark is refused");
  await urlOf(vhost);
  const definitions = brokers.rabbitmq.exportFormats["definitions"]?.(result.value, vhost) as JsonObject;
  await management.importDefinitions(definitions);
  const start: Contender["start"] = async (url, work) => {
    const running = await consume(
      system,
      "billing",
      { target, connection: { url }, concurrency, breaker: false },
      ({ body }) => {
        if (!work.handle((body as { readonly id: number }).id)) throw new Error("again");
      },
    );
    return () => running.stop();
  };
  return {
    name: strategy,
    vhost,
    exchange: `${strategy}.orders`,
    routingKey: "order.placed",
    deadQueue: `${strategy}.billing.dead`,
    start,
  };
}

/** Microseconds of processor time that the container's processes have used. Linux counts ticks of ten milliseconds. */
function brokerMicroseconds(): number {
  const listed = execFileSync("docker", ["top", started.broker.containerId, "-eo", "pid"], { encoding: "utf8" });
  const ticks = listed.match(/\d+/g)?.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return Number(fields[11]) + Number(fields[12]);
  });
  return (ticks ?? []).reduce((sum, each) => sum + each, 0) * 10_000;
}

async function measure(contender: Contender): Promise<PeerFigure> {
  const url = urlFor(contender.vhost);
  const recorder = new Recorder();
  const work: Work = { attempts, delayMs, concurrency, handle: (id) => recorder.handle(id) };
  await fill(url, contender);
  const [client, broker, startedAt] = [process.cpuUsage(), brokerMicroseconds(), performance.now()];
  const stop = await contender.start(url, work);
  await recorder.done;
  const durationMs = performance.now() - startedAt;
  const { user, system: kernel } = process.cpuUsage(client);
  const brokerUsed = brokerMicroseconds() - broker;
  const lost = Math.ceil(messages / 10) - (await takeDead(url, contender.deadQueue));
  await stop();
  const retries = messages * (attempts - 1);
  const late = recorder.lateMs.toSorted((a, b) => a - b);
  const at = (share: number): number => late[Math.floor((late.length - 1) * share)] ?? 0;
  return {
    perSecond: (retries / durationMs) * 1_000,
    clientMicroseconds: (user + kernel) / retries,
    brokerMicroseconds: brokerUsed / retries,
    lateMs: { p50: at(0.5), p99: at(0.99) },
    early: late.filter((lateMs) => lateMs < 0).length,
    lost,
    doubled: recorder.doubled,
  };
}

async function fill(url: string, { exchange, routingKey }: Contender): Promise<void> {
  const connection = await amqplib.connect(url);
  const channel = await connection.createConfirmChannel();
  for (let id = 0; id < messages; id++) {
    const body = Buffer.from(JSON.stringify({ id, text: "x".repeat(400) }));
    channel.publish(exchange, routingKey, body, { messageId: String(id), persistent: true });
  }
  await channel.waitForConfirms();
  await connection.close();
}

/** Takes the dead letters until all have come, or none has come for ten seconds; returns their number. */
async function takeDead(url: string, queue: string): Promise<number> {
  const connection = await amqplib.connect(url);
  const channel = await connection.createChannel();
  const ids = new Set<number>();
  const expected = Math.ceil(messages / 10);
  for (let emptyMs = 0; ids.size < expected && emptyMs < 10_000;) {
    const letter = await channel.get(queue, { noAck: true });
    if (letter !== false) ids.add(Number(letter.properties.messageId));
    else {
      await new Promise((resolve) => setTimeout(resolve, 100));
      emptyMs += 100;
    }
  }
  await connection.close();
  return ids.size;
}

const started = await startBroker("4.3");
const management = createManagement(started.broker.managementUrl);
const urlFor = (vhost: string): string => `${started.broker.amqpUrl}/${encodeURIComponent(vhost)}`;
const urlOf = async (vhost: string): Promise<string> => {
  await management.putVhost(vhost);
  await management.putPermissions(vhost, "guest");
  return urlFor(vhost);
};
try {
  const contenders: Contender[] = [];
  for (const [name, contender] of Object.entries(handWritten)) contenders.push(await declared(name, contender, urlOf));
  for (const strategy of ["native", "deferred", "staged", "waits"] as const)
    contenders.push(await compiled(strategy, urlOf));
  const figures = Object.fromEntries(contenders.map(({ name }) => [name, [] as PeerFigure[]]));
  // The first round warms up.
  for (let round = 0; round <= rounds; round++)
    for (const contender of contenders) {
      const figure = await measure(contender);
      if (round > 0) figures[contender.name]?.push(figure);
    }
  console.log(JSON.stringify({ messages, figures }));
} finally {
  await started.stop();
}
