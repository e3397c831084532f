import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServiceBusMessage, ServiceBusReceivedMessage } from "@azure/service-bus";
import { createClient } from "@redeliver/servicebus-emulator";
import { onTestFinished } from "vitest";

import { operating } from "../../../src/brokers/servicebus/operate/index.ts";
import type { DeadLetters } from "../../../src/operate/port.ts";
import { exportedIn } from "../exported-letters.ts";
import { type Answer, answerOf, runCommand } from "../run-command.ts";
import { deploy, type DeployedSystem, standard } from "./deployed-system.ts";

/** Two subscribers of one source. A redrive for one of them must not reach the other. */
const billing = { from: { orders: "all" }, retry: { attempts: 2, backoff: { kind: "immediate" } } };

export interface Stage extends DeployedSystem {
  /** The words that name the dead letters of billing. */
  readonly place: readonly string[];
  readonly deadQueue: string;
  readonly workQueue: string;
}

/** Deploys billing and audit, and lets the commands of this process work on their emulator. */
export async function stage(more: object = {}, options: Parameters<typeof deploy>[2] = {}): Promise<Stage> {
  const consumer = { ...billing, ...more };
  const consumers = { billing: consumer, audit: consumer };
  const system = await deploy(onTestFinished, consumers, options);
  process.env["SERVICEBUS_CONNECTION_STRING"] = system.lab.emulator.connectionString;
  const declaration = written({ name: "shop", sources: { orders: { kind: "topic" } }, consumers });
  const target = written({ ...standard, ...options });
  const { deadQueue, workQueue } = system.contract("billing");
  return {
    ...system,
    place: [declaration, "--target", target, "--consumer", "billing", "--json"],
    deadQueue,
    workQueue,
  };
}

export function written(data: object): string {
  const file = join(tmpdir(), `${randomUUID()}.json`);
  onTestFinished(() => rmSync(file, { force: true }));
  writeFileSync(file, JSON.stringify(data));
  return file;
}

/** Lets a receiver of billing dead-letter messages 1, 2, …, for the reasons ODD and EVEN, or for others. */
export async function fill(
  { lab, workQueue }: Pick<Stage, "lab" | "workQueue">,
  count: number,
  first = 1,
  reasonOf = (body: string): string => (isEven(body) ? "EVEN" : "ODD"),
  moreOf: (body: string) => Partial<ServiceBusMessage> = () => ({}),
): Promise<string[]> {
  const client = createClient(lab.emulator);
  const bodies = Array.from({ length: count }, (_, index) => String(first + index));
  const sender = client.createSender(workQueue);
  for (let at = 0; at < count; at += 10)
    await sender.sendMessages(
      bodies.slice(at, at + 10).map((body) => ({
        messageId: `m${body}`,
        body: Buffer.from(body),
        subject: "order.placed",
        applicationProperties: { tenant: "acme", count: 7 },
        ...moreOf(body),
      })),
    );
  const receiver = client.createReceiver(workQueue);
  for (let left = count; left > 0;) {
    const page = await receiver.receiveMessages(Math.min(left, 500), { maxWaitTimeInMs: 5_000 });
    // One after the other: the client library merges answers that differ only in their reasons.
    for (const message of page) {
      const deadLetterReason = reasonOf(String(message.body));
      await receiver.deadLetterMessage(message, { deadLetterReason, deadLetterErrorDescription: "no address" });
    }
    left -= page.length;
  }
  await client.close();
  return bodies;
}

export const isEven = (body: string): boolean => Number(body) % 2 === 0;

export const ask = async <Fields = Record<string, unknown>>(
  { place }: Stage,
  command: string,
  ...words: readonly string[]
): Promise<Answer<Fields>> => answerOf(runCommand(["dead", command, ...place, ...words]));

/** The dead letters, as an operator without commands has them. */
export async function connected(): Promise<DeadLetters> {
  const letters = await operating.connect({ url: undefined, managementUrl: undefined, place: null });
  onTestFinished(letters.close);
  return letters;
}

/** Peeks until there is no more. One peek shows 250 messages. */
export async function bodiesIn({ lab }: Pick<Stage, "lab">, path: string): Promise<string[]> {
  const client = createClient(lab.emulator);
  const receiver = client.createReceiver(path);
  const all: string[] = [];
  for (let page = await receiver.peekMessages(250); page.length > 0; page = await receiver.peekMessages(250))
    all.push(...page.map(({ body }) => String(body)));
  await client.close();
  return all;
}

/** Receives and deletes everything in a queue. */
export async function take({ lab }: Pick<Stage, "lab">, queue: string): Promise<string[]> {
  const client = createClient(lab.emulator);
  const receiver = client.createReceiver(queue);
  const taken: string[] = [];
  const next = async (): Promise<ServiceBusReceivedMessage[]> =>
    receiver.receiveMessages(500, { maxWaitTimeInMs: 1_000 });
  for (let page = await next(); page.length > 0; page = await next()) {
    await Promise.all(page.map((message) => receiver.completeMessage(message)));
    taken.push(...page.map(({ body }) => String(body)));
  }
  await client.close();
  return taken;
}

/** The letters of an export, without the broker's own values, which every message has anew. */
export function lettersIn(file: string): readonly string[] {
  return exportedIn(file).exported.map(({ letter }) => {
    const { sequenceNumber: _, enqueuedTimeUtc: __, deadLetterSource: ___, ...kept } = letter.properties;
    const { DeadLetterReason, DeadLetterErrorDescription, ...headers } = letter.headers;
    const reason = { deadLetterReason: DeadLetterReason, deadLetterErrorDescription: DeadLetterErrorDescription };
    return JSON.stringify([Buffer.from(letter.body).toString("base64"), headers, { ...reason, ...kept }]);
  });
}
