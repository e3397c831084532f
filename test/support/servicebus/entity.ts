import type {
  ServiceBusClient,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
  ServiceBusReceiverOptions,
} from "@azure/service-bus";

import { createClient } from "./clients.ts";
import type { ServicebusEmulator } from "./emulator/emulator.ts";

/** Service Bus gives no more at a time. Source: Service Bus quotas. */
const mostPeeked = 250;

/** Receives from what a contract names: a queue, a subscription's path, or the dead-letter queue of either. */
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

/** Everything that is in a queue, a subscription or a dead-letter queue now, scheduled messages too; it stays there. */
export async function peekAll(
  emulator: Pick<ServicebusEmulator, "connectionString">,
  path: string,
): Promise<readonly ServiceBusReceivedMessage[]> {
  // Every connection goes on peeking where it stopped.
  const client = createClient(emulator);
  const messages = await createReceiver(client, path).peekMessages(mostPeeked);
  await client.close();
  return messages;
}
