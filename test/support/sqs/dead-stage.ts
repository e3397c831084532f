import { randomUUID } from "node:crypto";
import { type MessageAttributeValue, SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { beforeAll, onTestFinished } from "vitest";

import { operating } from "../../../src/brokers/sqs/operate/index.ts";
import type { DeadLetters } from "../../../src/operate/port.ts";
import { type Child, start } from "../dead-journal.ts";
import { until } from "../deployed-system.ts";
import { type Answer, answerOf, runCommand } from "../run-command.ts";
import { region } from "./clients.ts";
import { attributes, deploy, type DeployedSystem } from "./deployed-system.ts";
import type { Queue } from "./lab.ts";

const credentials = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };

beforeAll(() => {
  Object.assign(process.env, credentials);
});

/** Two subscribers of one source. A redrive for one of them must not reach the other. */
const billing = {
  from: { orders: "all" },
  retry: { attempts: 2, backoff: { kind: "immediate" } },
  handlerTimeout: "5s",
};

export async function stage(emulator: Parameters<typeof deploy>[0], more: object = {}): Promise<DeployedSystem> {
  const system = await deploy(emulator, { billing: { ...billing, ...more }, audit: { ...billing, ...more } });
  onTestFinished(system.dispose);
  return system;
}

const inThreeGroups = (body: string): string => `g${Number(body) % 3}`;

/** Puts letters into the dead queue: 1, 2, …, whose reasons are ODD and EVEN. */
export async function fill(system: DeployedSystem, count: number, first = 1, groupOf = inThreeGroups) {
  const bodies = Array.from({ length: count }, (_, index) => String(first + index));
  const { name, url: QueueUrl } = system.dead("billing");
  const isFifo = name.endsWith(".fifo");
  const entries = bodies.map((body) => {
    const reason = Number(body) % 2 === 0 ? "EVEN" : "ODD";
    const texts = { "dlq-failure-reason": reason, "dlq-original-queue": system.work("billing").name, tenant: "acme" };
    const amount: MessageAttributeValue = { DataType: "Number.cents", StringValue: "2.50" };
    const bytes: MessageAttributeValue = { DataType: "Binary", BinaryValue: Buffer.from([0, 255, 1]) };
    const MessageAttributes = { ...attributes(texts), amount, bytes };
    const group = isFifo ? { MessageGroupId: groupOf(body), MessageDeduplicationId: randomUUID() } : {};
    return { Id: body, MessageBody: body, MessageAttributes, ...group };
  });
  for (let at = 0; at < count; at += 10) {
    const { Failed = [] } = await system.lab.sqs.send(
      new SendMessageBatchCommand({ QueueUrl, Entries: entries.slice(at, at + 10) }),
    );
    if (Failed.length > 0) throw new Error(`not sent: ${JSON.stringify(Failed)}`);
  }
  return bodies;
}

export function wordsFor({ lab, dead }: DeployedSystem, command: string): string[] {
  const { name } = dead("billing");
  const place = ["--queue", name, "--target", `sqs@${region}`, "--url", lab.emulator.endpoint];
  return ["dead", command, ...place, "--json"];
}

export const ask = async <Fields = Record<string, unknown>>(
  system: DeployedSystem,
  command: string,
  ...words: readonly string[]
): Promise<Answer<Fields>> => answerOf(runCommand([...wordsFor(system, command), ...words]));

/** The dead letters, as an operator without commands has them. */
export async function connected(url: string): Promise<DeadLetters> {
  const letters = await operating.connect({ url, managementUrl: undefined, place: region });
  onTestFinished(letters.close);
  return letters;
}

/** A redrive in a process of its own, once it has sent its first letter. */
export async function underway(system: DeployedSystem, ...words: readonly string[]): Promise<Child> {
  const child = start([...wordsFor(system, "redrive"), ...words]);
  const { lab, work } = system;
  await until(60_000, async () => child.isOver() || (await lab.count(work("billing"))) > 0);
  return child;
}

/** Receives and deletes everything, until the queue is empty. */
export async function drain({ lab }: DeployedSystem, queue: Queue) {
  const all = [];
  while ((await lab.count(queue)) > 0) {
    const received = await lab.receive(queue, { max: 10, waitSeconds: 1 });
    for (const message of received) await lab.deleteMessage(queue, message);
    all.push(...received);
  }
  return all;
}

export const bodiesOf = (messages: readonly { readonly Body?: string | undefined }[]): string[] =>
  messages.map(({ Body = "" }) => Body).toSorted((left, right) => Number(left) - Number(right));
