import { setTimeout as sleep } from "node:timers/promises";
import type { Channel, GetMessage } from "amqplib";

import type { Management } from "../support/management.ts";
import type { Action, DifferentialCase } from "./topologies.ts";

/** The time that the broker has for each predicted step. Busy test machines are slow. */
export const patienceMs = 4_000;
/** The broker gathers the statistics of quorum queues every five seconds. */
export const statisticsMs = 6_500;

/** The path of a policy in the management API. */
export function policyPath(vhost: string, { kind, name }: DifferentialCase["topology"]["policies"][number]): string {
  return `${kind === "user" ? "policies" : "operator-policies"}/${vhost}/${encodeURIComponent(name)}`;
}

/** Makes all resources of a topology, policies first, so that they hold from the start. */
export async function declare(
  management: Management,
  vhost: string,
  channel: Channel,
  topology: DifferentialCase["topology"],
): Promise<void> {
  await Promise.all(
    topology.policies.map(async (policy) => {
      const { pattern, priority, definition } = policy;
      await management.put(policyPath(vhost, policy), { pattern, priority, definition, "apply-to": policy.applyTo });
    }),
  );
  for (const { name, kind, arguments: given } of topology.exchanges)
    await channel.assertExchange(name, kind, { durable: true, arguments: given });
  for (const { name, arguments: given } of topology.queues)
    await channel.assertQueue(name, { durable: true, arguments: given });
  for (const { source, destination, destinationKind, routingKey, arguments: given } of topology.bindings) {
    await (destinationKind === "queue"
      ? channel.bindQueue(destination, source, routingKey, given)
      : channel.bindExchange(destination, source, routingKey, given));
  }
}

/** Settles the message and closes the channel. Closing sends all pending frames first. */
export async function answer(channel: Channel, message: GetMessage, { kind }: Action): Promise<void> {
  switch (kind) {
    case "ack":
      channel.ack(message);
      break;
    case "nack":
    case "nack-requeue":
      channel.nack(message, false, kind === "nack-requeue");
      break;
    case "reject":
    case "reject-requeue":
      channel.reject(message, kind === "reject-requeue");
      break;
    case "crash":
      break;
    default:
      kind satisfies never;
  }
  await channel.close();
}

/** Waits for the message at the head of a queue. Null if none comes in time. */
export async function getWithin(channel: Channel, queue: string): Promise<GetMessage | null> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const message = await channel.get(queue);
    if (message !== false) return message;
    if (Date.now() > deadline) return null;
    await sleep(10);
  }
}

/** The statistics of a busy broker may be late, but not for ever. */
export async function compareHeld(management: Management, vhost: string, queue: string, expected: number) {
  const deadline = Date.now() + 2 * statisticsMs;
  for (;;) {
    const { messages = 0 } = await management.queue(vhost, queue);
    if (messages === expected) return [];
    if (Date.now() > deadline) return [`${queue} holds ${messages} messages, not ${expected}`];
    await sleep(500);
  }
}
