import type { AuditedEntity, AuditedNamespace } from "../deployment.ts";
import { type MessageState, semanticsOf } from "../../prove/semantics.ts";
import type { MessageEntity } from "../../compile/topology.ts";

export type Surroundings = ReturnType<typeof surroundingsOf>;

/**
 * The namespace as the semantics needs it. Unknown settings have Azure's defaults, and subscriptions let in every
 * message.
 */
export function surroundingsOf(namespace: AuditedNamespace) {
  const { entities, topics } = namespace;
  const queues = entities.filter(({ kind }) => kind === "queue");
  const subscriptions = entities.filter(({ kind }) => kind === "subscription");
  const semantics = semanticsOf({
    queues: queues.map((queue) => ({
      kind: "queue",
      name: queue.name,
      role: "work",
      consumer: null,
      duplicateDetectionMs: null,
      ...settingsOf(queue),
    })),
    topics: topics.map((name) => ({ name, source: name, timeToLiveMs: null, duplicateDetectionMs: null })),
    subscriptions: subscriptions.map((subscription) => ({
      kind: "subscription",
      topic: subscription.topic ?? "",
      name: subscription.name.split("/Subscriptions/").at(-1) ?? "",
      consumer: subscription.name,
      deadLetterOnFilterError: true,
      rules: [{ name: "$Default", filter: { kind: "true" } }],
      ...settingsOf(subscription),
    })),
  });
  return { namespace, entities: new Map(entities.map((entity) => [entity.name, entity])), semantics };
}

/** A message that has just come into an entity. */
export function messageIn({ name, timeToLive }: AuditedEntity): MessageState {
  return {
    place: { kind: "entity", entity: name, deadLetter: null, status: "active" },
    content: { messageId: "", sessionId: null, subject: null, properties: {} },
    deliveryCount: 0,
    hops: 0,
    timeToLiveMs: timeToLive?.durationMs ?? null,
  };
}

function settingsOf(entity: AuditedEntity): MessageEntity {
  return {
    lockDurationMs: entity.lock?.durationMs ?? 60_000,
    maxDeliveryCount: entity.maxDeliveryCount ?? 10,
    timeToLiveMs: entity.timeToLive?.durationMs ?? null,
    deadLetterOnExpiration: entity.deadLetterOnExpiration ?? false,
    requiresSession: entity.requiresSession ?? false,
    forwardTo: entity.forwardTo === "" ? null : entity.forwardTo,
    forwardDeadLetteredTo: entity.forwardDeadLetteredTo === "" ? null : entity.forwardDeadLetteredTo,
  };
}
