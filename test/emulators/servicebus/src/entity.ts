import type {
  ServiceBusClient,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
  ServiceBusReceiverOptions,
} from "@azure/service-bus";

import { createClient } from "./clients.ts";
import type { ServicebusEmulator } from "./emulator.ts";

/** The most messages that Service Bus returns at a time. Source: Service Bus quotas. */
const mostPeeked = 250;

/** Receives from an entity in a contract: a queue, a subscription's path, or the dead-letter queue of either. */
export function createReceiver(
  client: ServiceBusClient,
  path: string,
  options: ServiceBusReceiverOptions = {},
): ServiceBusReceiver {
  const entity = path.replace(/\/\$DeadLetterQueue$/, "");
  const all: ServiceBusReceiverOptions =
    entity === path ? options : { ...options, subQueueType: "deadLetter" as const };
  const subscription = subscriptionOf(entity);
  return subscription === null
    ? client.createReceiver(entity, all)
    : client.createReceiver(subscription.topic, subscription.name, all);
}

/** The two names in a subscription's path; null for a queue. */
export function subscriptionOf(entity: string): { readonly topic: string; readonly name: string } | null {
  const [topic = "", name] = entity.split("/Subscriptions/");
  return name === undefined ? null : { topic, name };
}

/** Everything in a queue, a subscription or a dead-letter queue now, including scheduled messages. It stays there. */
export async function peekAll(
  emulator: Pick<ServicebusEmulator, "connectionString">,
  path: string,
): Promise<readonly ServiceBusReceivedMessage[]> {
  // Each connection goes on peeking after its last message.
  const client = createClient(emulator);
  const messages = await createReceiver(client, path).peekMessages(mostPeeked);
  await client.close();
  return messages;
}
