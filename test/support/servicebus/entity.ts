import type { ServiceBusClient, ServiceBusReceiver, ServiceBusReceiverOptions } from "@azure/service-bus";

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
