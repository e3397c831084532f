import type {
  QueueProperties,
  RuleProperties,
  ServiceBusAdministrationClient,
  SubscriptionProperties,
} from "@azure/service-bus";

import { isoDurationMs } from "./iso-duration.ts";

/** What can be compared of an entity, by the names that the topology has for it. */
export type Settings = Readonly<Record<string, unknown>>;

/** How long the management API may take for one answer. */
const patienceMs = 10_000;

/** @returns null where there is no such queue */
export async function readQueue(
  administration: ServiceBusAdministrationClient,
  name: string,
): Promise<Settings | null> {
  const queue = await ask((abortSignal) => administration.getQueue(name, { abortSignal }));
  return queue === null ? null : { ...settingsOf(queue), duplicateDetectionMs: duplicateDetectionMs(queue) };
}

/** @returns null where there is no such topic */
export async function readTopic(
  administration: ServiceBusAdministrationClient,
  name: string,
): Promise<Settings | null> {
  const topic = await ask((abortSignal) => administration.getTopic(name, { abortSignal }));
  if (topic === null) return null;
  return {
    timeToLiveMs: isoDurationMs(topic.defaultMessageTimeToLive),
    duplicateDetectionMs: duplicateDetectionMs(topic),
  };
}

/** @returns null where there is no such subscription */
export async function readSubscription(
  administration: ServiceBusAdministrationClient,
  topic: string,
  name: string,
): Promise<Settings | null> {
  const subscription = await ask((abortSignal) => administration.getSubscription(topic, name, { abortSignal }));
  if (subscription === null) return null;
  const rules: RuleProperties[] = [];
  for await (const rule of administration.listRules(topic, name, { abortSignal: AbortSignal.timeout(patienceMs) }))
    rules.push(rule);
  return {
    ...settingsOf(subscription),
    deadLetterOnFilterError: subscription.deadLetteringOnFilterEvaluationExceptions,
    ...Object.fromEntries(rules.map(({ name: rule, filter }) => [ruleKey(rule), wordsOf(filter)])),
  };
}

/** Under which name a rule is compared. */
export function ruleKey(name: string): string {
  return `rule ${name}`;
}

async function ask<Entity>(get: (signal: AbortSignal) => Promise<Entity>): Promise<Entity | null> {
  try {
    return await get(AbortSignal.timeout(patienceMs));
  } catch (error) {
    if ((error as { code?: unknown }).code === "MessageEntityNotFoundError") return null;
    throw error;
  }
}

function settingsOf(entity: QueueProperties | SubscriptionProperties): Settings {
  return {
    lockDurationMs: isoDurationMs(entity.lockDuration),
    maxDeliveryCount: entity.maxDeliveryCount,
    timeToLiveMs: isoDurationMs(entity.defaultMessageTimeToLive),
    deadLetterOnExpiration: entity.deadLetteringOnMessageExpiration,
    requiresSession: entity.requiresSession,
    forwardTo: nameIn(entity.forwardTo),
    forwardDeadLetteredTo: nameIn(entity.forwardDeadLetteredMessagesTo),
  };
}

/** Service Bus gives the whole address of what it forwards to. */
function nameIn(address: string | undefined): string | null {
  if (address === undefined || address === "") return null;
  return URL.canParse(address) ? decodeURIComponent(new URL(address).pathname.replace(/^\/+/, "")) : address;
}

function duplicateDetectionMs(entity: {
  readonly requiresDuplicateDetection?: boolean;
  readonly duplicateDetectionHistoryTimeWindow?: string;
}): number | null {
  return entity.requiresDuplicateDetection === true ? isoDurationMs(entity.duplicateDetectionHistoryTimeWindow) : null;
}

/** A filter as text, the same for all that let the same in. */
function wordsOf(filter: RuleProperties["filter"]): string {
  if ("sqlExpression" in filter && filter.sqlExpression !== undefined) return filter.sqlExpression;
  const { applicationProperties = {}, ...fields } = filter as Readonly<Record<string, unknown>>;
  const asked = Object.entries({ ...fields, ...(applicationProperties as object) });
  return asked
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join(" and ");
}
