import type { Finding } from "../../finding.ts";
import type { AuditedEntity } from "../deployment.ts";
import type { EntityPlace, MessageState } from "../semantics.ts";
import type { Surroundings } from "./surroundings.ts";

const forwarding = 'Service Bus documentation, "Chaining Service Bus entities with autoforwarding"';

/** What becomes of a message that an entity forwards, by the semantics that proves what Redeliver makes. */
export function forwardedBadly(entity: AuditedEntity, surroundings: Surroundings): readonly Finding[] {
  const { forwardTo, name, requiresSession } = entity;
  if (forwardTo === null || forwardTo === "") return [];
  const found = (code: Finding["code"], predicate: string, help: string): Finding[] => [
    { code, queue: name, predicate, notes: [forwarding], help },
  ];
  const ring = ringFrom(name, surroundings, "forwardTo");
  if (ring !== null) {
    const way = ring.length === 1 ? "to itself" : `in a ring: ${[name, ...ring].join(" → ")}`;
    return found("RD743", `forwards ${way}`, "forward to a queue that somebody receives from");
  }
  if (requiresSession === true) {
    return found("RD744", `requires sessions and forwards to ${forwardTo}`, "receive from it, or do without sessions");
  }
  const destination = surroundings.entities.get(forwardTo);
  if (destination?.requiresSession === true) {
    return found(
      "RD744",
      `forwards to ${forwardTo}, which requires sessions`,
      "let the subscription itself require sessions, and receive from it",
    );
  }
  const isMissing = destination === undefined && !surroundings.namespace.topics.includes(forwardTo);
  if (isMissing) {
    return surroundings.namespace.isWhole
      ? found("RD742", `forwards to ${forwardTo}, which is not there`, "create it first, or correct the name")
      : [];
  }
  const dead = surroundings.semantics
    .step(waitingIn(entity), { kind: "forward" })
    .flat()
    .map(({ place }) => place)
    .find(isOverHops);
  return dead === undefined
    ? []
    : found(
        "RD745",
        `forwards over more than four hops: messages are dead in ${dead.entity}`,
        "forward straight to the last queue of the chain",
      );
}

function isOverHops(place: MessageState["place"]): place is EntityPlace {
  return place.kind === "entity" && place.deadLetter === "MaxTransferHopCountExceeded";
}

function waitingIn({ name }: AuditedEntity): MessageState {
  return {
    place: { kind: "entity", entity: name, deadLetter: null, status: "active" },
    content: { messageId: "", sessionId: null, subject: null, properties: {} },
    deliveryCount: 0,
    hops: 0,
    timeToLiveMs: null,
  };
}

/**
 * The entities that a message comes through until it is back; null where it comes to rest before. A dead letter that comes to an entity which
 * forwards goes on from there, and where it does not it may die again.
 */
function ringFrom(
  start: string,
  { entities }: Surroundings,
  key: "forwardTo" | "forwardDeadLetteredTo",
): readonly string[] | null {
  const ring: string[] = [];
  for (let at = entities.get(start)?.[key] ?? ""; at !== "" && !ring.includes(at);) {
    ring.push(at);
    if (at === start) return ring;
    const next = entities.get(at);
    const onwards = next?.forwardTo ?? "";
    at = onwards !== "" || key === "forwardTo" ? onwards : (next?.forwardDeadLetteredTo ?? "");
  }
  return null;
}

/** Where dead letters go. */
export function deadLettersForwardedBadly(
  { name, forwardDeadLetteredTo: to }: AuditedEntity,
  surroundings: Surroundings,
): readonly Finding[] {
  if (to === null || to === "") return [];
  const { entities, namespace } = surroundings;
  const notes = [forwarding];
  const destination = entities.get(to);
  const ring = ringFrom(name, surroundings, "forwardDeadLetteredTo");
  if (ring !== null) {
    const way = ring.length === 1 ? "to itself" : `in a ring: ${[name, ...ring].join(" → ")}`;
    const counts =
      "each time round the delivery count starts again, so nothing ends it but the four hops, if they are counted";
    return [
      {
        code: "RD743",
        queue: name,
        predicate: `forwards its dead letters ${way}`,
        notes: [counts, ...notes],
        help: "forward them to a queue that forwards nothing itself",
      },
    ];
  }
  if (destination === undefined && !namespace.topics.includes(to)) {
    if (!namespace.isWhole) return [];
    const predicate = `forwards its dead letters to ${to}, which is not there`;
    return [{ code: "RD742", queue: name, predicate, notes, help: "create it first, or correct the name" }];
  }
  return destination === undefined ? [] : parkedBadly(name, destination);
}

/** A queue for dead letters is a queue like any other: what expires there is gone from where people look. */
function parkedBadly(name: string, destination: AuditedEntity): readonly Finding[] {
  const isMortal = destination.timeToLive !== null && destination.timeToLive.durationMs !== null;
  if (!isMortal || destination.forwardTo !== "" || destination.deadLetterOnExpiration !== false) return [];
  return [
    {
      code: "RD746",
      queue: name,
      predicate: `forwards its dead letters to ${destination.name}, which drops what is older than ${destination.timeToLive?.text}`,
      notes: ["a dead-letter queue observes no time to live; a queue that dead letters are forwarded to does"],
      help: "give that queue no time to live, and dead-lettering on expiry",
    },
  ];
}
