import type { RuleProperties, ServiceBusAdministrationClient } from "@azure/service-bus";

type Settings = Readonly<Record<string, unknown>>;
export type ListedFilter = { readonly sqlExpression: string } | { readonly subject: string };

/** Every registered entity of a namespace, by name; subscriptions as `<topic>/<name>`. */
export interface Listed {
  readonly queues: Readonly<Record<string, Settings>>;
  readonly topics: Readonly<Record<string, Settings>>;
  readonly subscriptions: Readonly<
    Record<string, Settings & { readonly rules: Readonly<Record<string, ListedFilter>> }>
  >;
}

const detection = ["requiresDuplicateDetection", "duplicateDetectionHistoryTimeWindow"];
const receivable = [
  "lockDuration",
  "maxDeliveryCount",
  "defaultMessageTimeToLive",
  "deadLetteringOnMessageExpiration",
  "requiresSession",
  "status",
  "autoDeleteOnIdle",
];

/** Asks the management API for every setting that a topology decides. A missing destination is null. */
export async function listEntities(administration: ServiceBusAdministrationClient): Promise<Listed> {
  const queues: Record<string, Settings> = {};
  const topics: Record<string, Settings> = {};
  const subscriptions: Record<string, Listed["subscriptions"][string]> = {};
  for await (const queue of administration.listQueues())
    queues[queue.name] = { ...settingsOf(queue, [...receivable, ...detection]), ...forwardsOf(queue) };
  for await (const topic of administration.listTopics()) {
    topics[topic.name] = settingsOf(topic, ["defaultMessageTimeToLive", "status", ...detection]);
    for await (const subscription of administration.listSubscriptions(topic.name)) {
      const rules: Record<string, ListedFilter> = {};
      for await (const rule of administration.listRules(topic.name, subscription.subscriptionName))
        rules[rule.name] = filterOf(rule);
      subscriptions[`${topic.name}/${subscription.subscriptionName}`] = {
        ...settingsOf(subscription, [...receivable, "deadLetteringOnFilterEvaluationExceptions"]),
        ...forwardsOf(subscription),
        rules,
      };
    }
  }
  return { queues, topics, subscriptions };
}

function settingsOf(entity: object, names: readonly string[]): Settings {
  return Object.fromEntries(names.map((name) => [name, (entity as Settings)[name]]));
}

/** They come as addresses, `sb://<host>/<name>`. */
function forwardsOf(entity: {
  readonly forwardTo?: string;
  readonly forwardDeadLetteredMessagesTo?: string;
}): Settings {
  const nameIn = (address: string | undefined): string | null => address?.replace(/^sb:\/\/[^/]+\//, "") ?? null;
  return {
    forwardTo: nameIn(entity.forwardTo),
    forwardDeadLetteredMessagesTo: nameIn(entity.forwardDeadLetteredMessagesTo),
  };
}

function filterOf({ name, filter }: RuleProperties): ListedFilter {
  if ("sqlExpression" in filter && filter.sqlExpression !== undefined) return { sqlExpression: filter.sqlExpression };
  if ("subject" in filter && filter.subject !== undefined) return { subject: filter.subject };
  throw new Error(`the rule ${name} has a filter that is neither SQL nor a subject`);
}
