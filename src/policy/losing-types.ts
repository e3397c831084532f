import type { Entry } from "../brokers/entries.ts";
import { isEntry } from "../brokers/entries.ts";
import { isUnreadable } from "../brokers/pulumi-resource.ts";
import { isComponentType } from "./component.ts";

/** A kind of resource that messages are lost with. */
interface LosingType {
  /** Whether messages lie in it, or only pass through it. */
  readonly holds: boolean;
  /** What happens to messages when it is deleted, as a sentence without its end. */
  readonly loss: string;
  /** Whether it is made to go by itself, so that nobody counts on what is in it. */
  readonly isTemporary: (properties: Entry) => boolean;
}

const never = (): boolean => false;

/**
 * By the type of the resource, without the version of an API in it.
 *
 * Sources: `queue.delete` and "Exchanges" in the AMQP 0-9-1 model of RabbitMQ, whose provider names no `if-empty`; `DeleteQueue` in the
 * API reference of SQS ("regardless of the queue's contents"); "Delete" of namespaces, queues, topics and subscriptions in the REST
 * reference of Azure Service Bus, which takes everything below with it.
 */
const losingTypes: Readonly<Record<string, LosingType>> = {
  "rabbitmq:index/queue:Queue": {
    holds: true,
    loss: "RabbitMQ deletes every message in it",
    isTemporary: isTransientQueue,
  },
  "rabbitmq:index/vHost:VHost": {
    holds: true,
    loss: "RabbitMQ deletes every queue in it with all messages",
    isTemporary: never,
  },
  "rabbitmq:index/exchange:Exchange": {
    holds: false,
    loss: "its bindings go with it, and until they are there again RabbitMQ drops what is dead-lettered to it and refuses what is published",
    isTemporary: never,
  },
  "aws:sqs/queue:Queue": { holds: true, loss: "SQS deletes every message in it", isTemporary: never },
  "azure-native:servicebus:Namespace": {
    holds: true,
    loss: "Azure deletes every queue and subscription in it with all messages",
    isTemporary: never,
  },
  "azure-native:servicebus:Queue": {
    holds: true,
    loss: "Azure deletes every message in it, and its dead letters",
    isTemporary: isDeletedWhenIdle,
  },
  "azure-native:servicebus:Topic": {
    holds: true,
    loss: "Azure deletes all of its subscriptions with every message in them",
    isTemporary: isDeletedWhenIdle,
  },
  "azure-native:servicebus:Subscription": {
    holds: true,
    loss: "Azure deletes every message in it, and its dead letters",
    isTemporary: isDeletedWhenIdle,
  },
};

/** The types of resources that messages lie in. */
export const holdingTypes: readonly string[] = Object.keys(losingTypes).filter((type) => losingTypes[type]?.holds);

/** The types of resources that messages are lost with. */
export const typesWithLoss: readonly string[] = Object.keys(losingTypes);

/** What is lost with a resource; null where that is nothing, or where too little of it is known. */
export function lossOf(type: string, properties: Entry): (LosingType & { readonly type: string }) | null {
  const own = withoutVersion(type);
  const losing = Object.hasOwn(losingTypes, own) ? losingTypes[own] : undefined;
  if (losing === undefined || losing.isTemporary(properties)) return null;
  return { ...losing, type: own };
}

/** `azure-native:servicebus/v20240101:Queue` is an `azure-native:servicebus:Queue`. */
export function withoutVersion(type: string): string {
  return type.replace(/^(azure-native:servicebus)\/v\w+:/, "$1:");
}

/**
 * Whether a component of Redeliver made it, which decides by itself what is protected and what is retained. The types of everything above a
 * resource are in its URN: `urn:pulumi:prod::shop::redeliver:index:RetryTopology$rabbitmq:index/queue:Queue::orders`.
 */
export function isMadeByComponent(urn: string): boolean {
  return (urn.split("::")[2] ?? "").split("$").slice(0, -1).some(isComponentType);
}

/** The provider makes a queue transient unless it is told otherwise. What is not known may be either, so nothing is said. */
function isTransientQueue({ settings }: Entry): boolean {
  if (!isEntry(settings)) return true;
  const { durable, autoDelete } = settings;
  return durable !== true || autoDelete === true || isUnreadable(autoDelete);
}

/** What Azure answers with where nothing deletes it. */
const neverIdle = "P10675199DT2H48M5.4775807S";

function isDeletedWhenIdle({ autoDeleteOnIdle }: Entry): boolean {
  return autoDeleteOnIdle !== undefined && autoDeleteOnIdle !== null && autoDeleteOnIdle !== neverIdle;
}
