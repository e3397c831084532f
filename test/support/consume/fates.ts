import amqplib from "amqplib";
import type { Channel, GetMessage } from "amqplib";

import { permanent } from "../../../src/consume/index.ts";
import { deploy, type DeployedSystem, sleep, until } from "../deployed-system.ts";
import type { Broker } from "../live.ts";
import { courseOf, type Fates, permanentReason } from "../random-fates.ts";
import { type ConsumedSystem, consumeFrom } from "./consumed.ts";
import { oneConsumer } from "../examples.ts";

export type Strategy = NonNullable<Parameters<typeof deploy>[2]>;

/** The delay before each attempt but the first. */
export const delayMs = 200;

/** The most attempts of a message. */
export const attempts = 5;

/** One consumer. */
export const declarationFor = (strategy: Strategy): unknown =>
  oneConsumer({
    from: { orders: "all" },
    retry: { attempts, backoff: { kind: "constant", delay: `${delayMs}ms` } },
    ...(strategy === "deferred" ? { protocol: "amqp-1.0" } : {}),
  });

/** Always the same: a fifth never succeeds, a fifth is dead at once, a fifth needs several attempts. */
const everyFifth: Fates = (id, attempt) => {
  const number = Number(id.slice(1)) % 5;
  if (number === 1) return "transient";
  if (number === 2) return "permanent";
  return number === 3 && attempt < 3 ? "transient" : "success";
};

/** A system with messages that its consumer has not taken yet. */
export interface Filled {
  readonly strategy: Strategy;
  readonly system: DeployedSystem;
  readonly consumer: string;
  readonly ids: readonly string[];
  readonly fates: Fates;
  readonly shouldBeDead: readonly string[];
}

export interface Consuming extends Filled {
  readonly billing: ConsumedSystem;
}

export async function fill(broker: Broker, strategy: Strategy, count: number, fates = everyFifth): Promise<Filled> {
  const system = await deploy(broker, declarationFor(strategy), strategy);
  const ids = Array.from({ length: count }, (_, index) => `m${index}`);
  await system.publish(ids);
  // The test's own connection would not survive the next steps.
  await system.disconnect();
  return { strategy, system, consumer: "billing", ids, fates, shouldBeDead: deadOf(fates, ids) };
}

function deadOf(fates: Fates, ids: readonly string[]): readonly string[] {
  return ids.filter((id) => courseOf(fates, id, attempts).at(-1) !== "success");
}

/** Fills one system of several consumers, whose messages wait in the same queues. Each has a key of its own. */
export async function fillSharing(
  broker: Broker,
  strategy: Strategy,
  count: number,
  fates: Fates,
): Promise<readonly Filled[]> {
  const { billing } = (declarationFor(strategy) as ReturnType<typeof oneConsumer>).consumers;
  const names = ["billing", "mail", "stock"];
  const consumers = Object.fromEntries(names.map((name) => [name, { ...billing, from: { orders: [name] } }]));
  const system = await deploy(broker, oneConsumer({}, { consumers }), strategy);
  const filled: Filled[] = [];
  for (const [index, consumer] of names.entries()) {
    const ids = Array.from({ length: count }, (_, message) => `m${message * names.length + index}`);
    await system.publish(ids, { exchange: "shop.orders", routingKey: consumer });
    filled.push({ strategy, system, consumer, ids, fates, shouldBeDead: deadOf(fates, ids) });
  }
  await system.disconnect();
  return filled;
}

/**
 * Consumes with a given fate for each message. Until the event has happened, at most half as many attempts begin as
 * there are messages. So it happens in their middle.
 */
export async function consumeFated(
  broker: Broker,
  filled: Filled,
  course: {
    /** One, or one for each node. */
    readonly url?: string | readonly string[];
    readonly concurrency: number;
    readonly longestMs: number;
    readonly happened: Promise<void>;
  },
): Promise<Consuming> {
  const { system, consumer, ids, fates } = filled;
  const { concurrency, longestMs, happened, url = system.url } = course;
  const { managementUrl } = broker;
  const options = { concurrency, breaker: false, connection: { url, managementUrl } } as const;
  let begun = 0;
  const billing = await consumeFrom({ ...system, consumer, options }, async ({ id, attempt }) => {
    begun += 1;
    if (begun > ids.length / 2) await happened;
    await sleep((0.25 + 0.75 * Math.random()) * longestMs);
    const fate = fates(id, attempt);
    if (fate === "transient") throw new Error("again");
    if (fate === "permanent") throw permanent(permanentReason);
  });
  return { ...filled, billing };
}

export function succeeded({ events }: ConsumedSystem): readonly string[] {
  return events.flatMap((event) =>
    event.kind === "settled" && event.outcome === "success" ? [String(event.messageId)] : [],
  );
}

/**
 * Waits until each message has ended and every queue is empty. Returns the ids of all successes, and the dead letters.
 */
export async function endsOf(
  { system, consumer, ids, billing }: Consuming,
  withinMs: number,
): Promise<{
  readonly well: readonly string[];
  readonly dead: readonly string[];
  readonly letters: readonly GetMessage[];
}> {
  const letters: GetMessage[] = [];
  const haveEnded = (dead: ReadonlySet<string>): boolean =>
    new Set([...dead, ...succeeded(billing)]).size === ids.length && billing.running.health().handling === 0;
  await takeLetters(system, letters, haveEnded, withinMs, consumer);
  return { well: succeeded(billing), dead: letters.map(idOf), letters };
}

/**
 * Takes dead letters until all messages have ended and every queue is empty.
 *
 * @param letters receives them, also after a timeout
 * @throws if they do not end within the time
 */
export async function takeLetters(
  system: DeployedSystem,
  letters: GetMessage[],
  haveEnded: (dead: ReadonlySet<string>) => boolean,
  withinMs: number,
  consumer = "billing",
): Promise<void> {
  const connection = await amqplib.connect(system.url);
  // The pending call reports this error too.
  connection.on("error", () => undefined);
  const channel = await connection.createChannel();
  const dead = new Set<string>();
  await until(withinMs, async () => {
    for (const letter of await drained(channel, `shop.${consumer}.dead`)) {
      letters.push(letter);
      dead.add(idOf(letter));
    }
    if (!haveEnded(dead)) return false;
    for (const { name } of system.compiled.topology.queues) {
      if ((await channel.checkQueue(name)).messageCount > 0) return false;
    }
    return true;
  });
  await connection.close();
}

export function idOf({ properties }: GetMessage): string {
  return String(properties.messageId);
}

/** Acknowledges each letter after it came. Otherwise a letter whose delivery is lost would be gone. */
async function drained(channel: Channel, queue: string): Promise<readonly GetMessage[]> {
  const letters: GetMessage[] = [];
  for (;;) {
    const letter = await channel.get(queue, { noAck: false });
    if (letter === false) return letters;
    letters.push(letter);
    channel.ack(letter);
  }
}

/**
 * A quorum queue has this many dead letters on their way at a time with at-least-once dead-lettering. Source:
 * `dead_letter_worker_consumer_prefetch`.
 */
const deadLettersOnTheirWay = 32;

/**
 * The most messages that the broker may lose when leaders change. A settlement of dead letters that comes late removes
 * others: see `late-settlement.test.ts`. Under `waits` the consumer itself sends what it must not lose, so the test
 * allows nothing there.
 */
export const mostLostByBroker = (strategy: Strategy): number => (strategy === "waits" ? 0 : deadLettersOnTheirWay);

/** The most dead letters that can double when all queues lose their leaders once. */
export function mostDeadLettersDoubled({ compiled }: DeployedSystem): number {
  const sources = compiled.topology.queues.filter((queue) => queue.arguments["x-overflow"] === "reject-publish");
  return deadLettersOnTheirWay * sources.length;
}
