import amqplib from "amqplib";
import type { Channel, GetMessage } from "amqplib";
import { permanent } from "redeliver/consume";

import type { DeployedSystem } from "../deployed-system.ts";
import { deploy, sleep, until } from "../deployed-system.ts";
import type { Broker } from "../live.ts";
import type { Fates } from "../random-fates.ts";
import { courseOf, permanentReason } from "../random-fates.ts";
import type { ConsumedSystem } from "./consumed.ts";
import { consumeFrom } from "./consumed.ts";

export type Strategy = NonNullable<Parameters<typeof deploy>[2]>;

const source = { exchange: "shop.orders", routingKey: "order.placed" };
/** How many attempts a message has at most. */
export const attempts = 5;

/** One consumer. */
export const declarationFor = (strategy: Strategy): unknown => ({
  name: "shop",
  sources: { orders: { kind: "topic" } },
  consumers: {
    billing: {
      from: { orders: "all" },
      retry: { attempts, backoff: { kind: "constant", delay: "200ms" } },
      ...(strategy === "deferred" ? { protocol: "amqp-1.0" } : {}),
    },
  },
});

/** Always the same: a fifth never succeeds, a fifth is dead at once, a fifth needs several attempts. */
const everyFifth: Fates = (id, attempt) => {
  const number = Number(id.slice(1)) % 5;
  if (number === 1) return "transient";
  if (number === 2) return "permanent";
  return number === 3 && attempt < 3 ? "transient" : "success";
};

/** A system with messages in it that nobody has taken yet. */
export interface Filled {
  readonly strategy: Strategy;
  readonly system: DeployedSystem;
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
  await system.publish(ids, source);
  // The test's own connection would not survive what follows.
  await system.disconnect();
  const shouldBeDead = ids.filter((id) => courseOf(fates, id, attempts).at(-1) !== "success");
  return { strategy, system, ids, fates, shouldBeDead };
}

/**
 * Consumes, so that each message has its fate. Before something has happened no more attempts than half of the messages begin, so that it happens
 * in their middle.
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
  const { strategy, system, ids, fates } = filled;
  const { concurrency, longestMs, happened, url = system.url } = course;
  const { managementUrl } = broker;
  const options = { concurrency, breaker: false, connection: { url, managementUrl } } as const;
  const input = { broker, declaration: declarationFor(strategy), consumer: "billing", strategy, options };
  let begun = 0;
  const billing = await consumeFrom(system, input, async ({ id, attempt }) => {
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

/** Waits for each message to end, and for every queue to be empty; gives the ids of all that ended well, and the dead letters. */
export async function endsOf(
  { system, ids, billing }: Consuming,
  withinMs: number,
): Promise<{
  readonly well: readonly string[];
  readonly dead: readonly string[];
  readonly letters: readonly GetMessage[];
}> {
  const connection = await amqplib.connect(system.url);
  // It is told again by whatever waits for an answer then.
  connection.on("error", () => undefined);
  const channel = await connection.createChannel();
  const letters: GetMessage[] = [];
  const dead = new Set<string>();
  await until(withinMs, async () => {
    for (const letter of await drained(channel, "shop.billing.dead")) {
      letters.push(letter);
      dead.add(idOf(letter));
    }
    if (new Set([...dead, ...succeeded(billing)]).size < ids.length) return false;
    for (const { name } of system.compiled.topology.queues) {
      if ((await channel.checkQueue(name)).messageCount > 0) return false;
    }
    return billing.running.health().handling === 0;
  });
  await connection.close();
  return { well: succeeded(billing), dead: letters.map(idOf), letters };
}

export function idOf({ properties }: GetMessage): string {
  return String(properties.messageId);
}

async function drained(channel: Channel, queue: string): Promise<readonly GetMessage[]> {
  const letters: GetMessage[] = [];
  for (;;) {
    const letter = await channel.get(queue, { noAck: true });
    if (letter === false) return letters;
    letters.push(letter);
  }
}

/** Dead letters that a quorum queue passes on at least once are on their way this many at a time. Source: `dead_letter_worker_consumer_prefetch`. */
const deadLettersOnTheirWay = 32;

/** How many dead letters can be doubled when all queues lose their leaders once. */
export function mostDeadLettersDoubled({ compiled }: DeployedSystem): number {
  const sources = compiled.topology.queues.filter((queue) => queue.arguments["x-overflow"] === "reject-publish");
  return deadLettersOnTheirWay * sources.length;
}
