import type { AuditedEntity, AuditedNamespace } from "../deployment.ts";
import type { Semantics } from "../semantics.ts";
import { semanticsOf } from "../semantics.ts";
import type { MessageEntity } from "../topology.ts";

/** What an entity's messages can get to. */
export interface Surroundings {
  readonly namespace: AuditedNamespace;
  readonly entities: ReadonlyMap<string, AuditedEntity>;
  readonly semantics: Semantics;
}

/** The namespace as the semantics knows it. What is not told is Azure's own; subscriptions let in everything. */
export function surroundingsOf(namespace: AuditedNamespace): Surroundings {
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
