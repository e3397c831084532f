import type { ServiceBusAdministrationClient } from "@azure/service-bus";

import type { Watched } from "../../migrating.ts";
import { destinationIn } from "../compile/fields.ts";

/** The counts of a queue or subscription, and the queues that its messages go on to. */
interface Counted {
  /** As the parts of a system have it. */
  readonly name: string;
  readonly forwardTo?: string;
  readonly forwardDeadLetteredMessagesTo?: string;
  readonly activeMessageCount: number;
  /** Left out for a subscription, because its topic keeps them. */
  readonly scheduledMessageCount?: number;
  readonly transferMessageCount: number;
  readonly deadLetterMessageCount: number;
}

/**
 * Counts the messages of a namespace. Locked and deferred ones are among the active. A message that another entity has
 * not yet forwarded counts for its next queue. Other dead letters wait for a person. Sources: Service Bus documentation,
 * "Get message counters"; ServiceBusExplorer issue 662.
 */
export async function countMessages(
  administration: ServiceBusAdministrationClient,
  abortSignal: AbortSignal,
): Promise<readonly Watched[]> {
  const limits = { abortSignal };
  const entities: Counted[] = [];
  const settings = new Map<string, Pick<Counted, "forwardTo" | "forwardDeadLetteredMessagesTo">>();
  for await (const queue of administration.listQueues(limits)) settings.set(queue.name, queue);
  for await (const counts of administration.listQueuesRuntimeProperties(limits))
    entities.push({ ...settings.get(counts.name), ...counts });
  for await (const { name: topic } of administration.listTopics(limits)) {
    for await (const each of administration.listSubscriptions(topic, limits))
      settings.set(`${topic}/${each.subscriptionName}`, each);
    for await (const counts of administration.listSubscriptionsRuntimeProperties(topic, limits)) {
      const name = `${topic}/${counts.subscriptionName}`;
      entities.push({ ...settings.get(name), ...counts, name });
    }
  }
  const coming = new Map<string, number>();
  const add = (destination: string | undefined, count: number): void => {
    const name = destinationIn(destination ?? "");
    coming.set(name, (coming.get(name) ?? 0) + count);
  };
  for (const each of entities) {
    add(each.forwardTo, each.activeMessageCount + each.transferMessageCount);
    add(each.forwardDeadLetteredMessagesTo, each.deadLetterMessageCount);
  }
  return entities.map(({ name, activeMessageCount: active, scheduledMessageCount: scheduled = 0, ...each }) => {
    const later = { "in transfer": each.transferMessageCount, "not yet forwarded": coming.get(name) ?? 0 };
    const messages = { active, scheduled, ...later };
    return { kind: "queue", name, messages, moved: JSON.stringify(messages), connections: [] };
  });
}
