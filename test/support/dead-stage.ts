import type { ConsumeMessage, GetMessage, Options } from "amqplib";
import { onTestFinished } from "vitest";

import { operating } from "../../src/brokers/rabbitmq/operate/index.ts";
import type { DeadLetters } from "../../src/operate/port.ts";
import { deploy, type DeployedSystem, until } from "./deployed-system.ts";
import type { Broker } from "./live.ts";
import type { Strategy } from "./strategies.ts";

const billing = { from: { orders: "all" }, retry: { attempts: 2, backoff: { kind: "constant", delay: "300ms" } } };
/** Two subscribers of one source. A redrive for one of them must not reach the other. */
export const shop = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing, audit: billing } };
export const deadQueue = "shop.billing.dead";
export const workQueue = "shop.billing";

/** The same, with queues for parked letters. */
const parking = { ...billing, deadLetter: { park: true, generations: 2 } };
export const parkingShop = { ...shop, consumers: { billing: parking, audit: parking } };
export const parkedQueue = "shop.billing.parked";

/** A system with dead queues, and the dead letters there. */
export async function stage(
  broker: Broker,
  declaration: object = shop,
  strategy: Strategy | "auto" = "waits",
): Promise<DeployedSystem & { readonly letters: DeadLetters }> {
  const system = await deploy(broker, declaration, strategy);
  onTestFinished(system.dispose);
  const letters = await operating.connect({ url: system.url, managementUrl: broker.managementUrl, place: null });
  onTestFinished(letters.close);
  return { ...system, letters };
}

/**
 * Declares a queue with the name "full", and fills it with messages without an id. A publisher that is connected hears
 * late that a quorum queue is full, and until then the queue takes its messages. One that comes later hears it at once.
 */
export async function makeFull({ channel }: Pick<DeployedSystem, "channel">): Promise<void> {
  const limited = { "x-queue-type": "quorum", "x-max-length": 1, "x-overflow": "reject-publish" };
  await channel.assertQueue("full", { arguments: limited });
  const isTaken = async (): Promise<boolean> =>
    new Promise((done) => channel.sendToQueue("full", Buffer.from("x"), {}, (error) => done(error === null)));
  await until(30_000, async () => !(await isTaken()));
}

/** The header of a letter that has been sent again twice. */
const twice = { generation: 2, redrive: "before", at: "2026-03-01T08:00:00.000Z", reason: "ODD", routingKey: "" };
export const sentTwice: Options.Publish = {
  headers: { "redeliver-history": JSON.stringify([{ ...twice, position: 1 }]) },
};

/** Puts letters into a queue: m1, m2, …, whose reasons are ODD and EVEN, unless they are given. */
export async function fill(
  { channel }: Pick<DeployedSystem, "channel">,
  queue: string,
  count: number,
  first = 1,
  { headers: more, ...properties }: Options.Publish = {},
): Promise<readonly string[]> {
  const { messageCount: before } = await channel.checkQueue(queue);
  const ids = Array.from({ length: count }, (_, index) => `m${first + index}`);
  for (const id of ids) {
    const reason = Number(id.slice(1)) % 2 === 0 ? "EVEN" : "ODD";
    const headers = {
      "dlq-failure-reason": reason,
      "dlq-original-queue": workQueue,
      tenant: "acme",
      share: 0.5,
      ...more,
    };
    channel.sendToQueue(queue, Buffer.from(`{"id":"${id}"}`), {
      messageId: id,
      persistent: true,
      headers,
      ...properties,
    });
  }
  await channel.waitForConfirms();
  await until(60_000, async () => (await channel.checkQueue(queue)).messageCount === before + count);
  return ids;
}

export const idsOf = (messages: readonly GetMessage[]): string[] =>
  messages.map(({ properties }) => String(properties.messageId));

/** Takes everything out of a queue, much faster than one by one. */
export async function takeAll({ channel }: Pick<DeployedSystem, "channel">, queue: string): Promise<string[]> {
  const { messageCount } = await channel.checkQueue(queue);
  const ids: string[] = [];
  const take = (message: ConsumeMessage | null): void => void ids.push(String(message?.properties.messageId));
  const { consumerTag } = await channel.consume(queue, take, { noAck: true });
  await until(60_000, () => ids.length >= messageCount);
  await channel.cancel(consumerTag);
  return ids;
}
