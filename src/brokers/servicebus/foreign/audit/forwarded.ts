import type { ServicebusFinding } from "./sentences.ts";
import type { AuditedEntity } from "../deployment.ts";
import { type Surroundings, messageIn } from "./surroundings.ts";

/** Finds faults in the forwarding of an entity, by the semantics that also proves Redeliver's topologies. */
export function forwardedBadly(entity: AuditedEntity, surroundings: Surroundings): readonly ServicebusFinding[] {
  const { forwardTo, name, requiresSession } = entity;
  if (forwardTo === null || forwardTo === "") return [];
  const ring = ringFrom(name, surroundings, "forwardTo");
  if (ring !== null) return [{ code: "RD743", subject: name, facts: { ring: shortened(name, ring), isDead: false } }];
  if (requiresSession === true) return [{ code: "RD744", subject: name, facts: { to: forwardTo } }];
  const isMissing = !surroundings.entities.has(forwardTo) && !surroundings.namespace.topics.includes(forwardTo);
  if (isMissing) {
    return surroundings.namespace.isWhole
      ? [{ code: "RD742", subject: name, facts: { to: forwardTo, isDead: false } }]
      : [];
  }
  const dead = surroundings.semantics
    .step({ ...messageIn(entity), timeToLiveMs: null }, { kind: "forward" })
    .flat()
    .flatMap(({ place }) => (place.kind === "entity" ? [place] : []))
    .find(({ deadLetter }) => deadLetter === "MaxTransferHopCountExceeded");
  return dead === undefined ? [] : [{ code: "RD745", subject: name, facts: { place: dead.entity } }];
}

/**
 * Every entity looks for its ring. Without a bound, that would take the square of a ring's length. Four hops also end a
 * longer ring.
 */
const longestRing = 1_000;

/** The whole ring from its start to its start. In a long one, a number replaces the entities in the middle. */
function shortened(start: string, ring: readonly string[]): readonly (string | number)[] {
  if (ring.length === 1) return [];
  return [start, ...(ring.length <= 10 ? ring : [...ring.slice(0, 8), ring.length - 9, start])];
}

/**
 * The entities on a message's way until it is back, or null if it stays somewhere. A dead letter goes on from an entity
 * that forwards. In any other entity, it may be dead-lettered again.
 */
function ringFrom(
  start: string,
  { entities }: Surroundings,
  key: "forwardTo" | "forwardDeadLetteredTo",
): readonly string[] | null {
  const ring = new Set<string>();
  for (let at = entities.get(start)?.[key] ?? ""; at !== "" && !ring.has(at) && ring.size < longestRing;) {
    ring.add(at);
    if (at === start) return [...ring];
    const next = entities.get(at);
    const onwards = next?.forwardTo ?? "";
    at = onwards !== "" || key === "forwardTo" ? onwards : (next?.forwardDeadLetteredTo ?? "");
  }
  return null;
}

export function deadLettersForwardedBadly(
  { name, forwardDeadLetteredTo: to }: AuditedEntity,
  surroundings: Surroundings,
): readonly ServicebusFinding[] {
  if (to === null || to === "") return [];
  const { entities, namespace } = surroundings;
  const ring = ringFrom(name, surroundings, "forwardDeadLetteredTo");
  if (ring !== null) return [{ code: "RD743", subject: name, facts: { ring: shortened(name, ring), isDead: true } }];
  if (entities.has(to) || namespace.topics.includes(to) || !namespace.isWhole) return [];
  return [{ code: "RD742", subject: name, facts: { to, isDead: true } }];
}
