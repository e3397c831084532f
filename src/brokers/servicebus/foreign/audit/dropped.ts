import type { ServicebusFinding } from "./sentences.ts";
import type { AuditedEntity } from "../deployment.ts";
import type { ServicebusEvent } from "../../prove/semantics.ts";
import { type Surroundings, messageIn } from "./surroundings.ts";

const events: readonly ServicebusEvent["kind"][] = ["deliver", "abandon", "dead-letter", "expire", "forward"];

/**
 * Finds the places where dead letters of an entity expire and are deleted. Messages in a dead-letter queue never
 * expire. If dead letters are forwarded to another queue, they expire there, also by the time to live that they already
 * have.
 */
export function deadLettersDropped(entity: AuditedEntity, surroundings: Surroundings): readonly ServicebusFinding[] {
  const { name, forwardDeadLetteredTo: to, forwardTo } = entity;
  if (to === null || to === "" || forwardTo !== "") return [];
  const own = entity.timeToLive?.durationMs ?? null;
  return [...placesOfExpiry(entity, surroundings)].flatMap((place): ServicebusFinding[] => {
    const keeper = surroundings.entities.get(place);
    // `configuredBadly` reports an entity that drops its own messages. An unknown setting may dead-letter them.
    if (keeper === undefined || place === name || keeper.deadLetterOnExpiration !== false) return [];
    const isKeepers = (keeper.timeToLive?.durationMs ?? null) !== null;
    const timeToLive = isKeepers ? keeper.timeToLive?.text : own === null ? null : entity.timeToLive?.text;
    return [{ code: "RD746", subject: name, facts: { place, timeToLive: timeToLive ?? null, isKeepers } }];
  });
}

function placesOfExpiry(entity: AuditedEntity, { semantics }: Surroundings): Set<string> {
  const open = [messageIn(entity)];
  const seen = new Set(open.map(semantics.behaviourKey));
  const places = new Set<string>();
  // The loop also reaches elements that are added to the list while it runs.
  for (const state of open) {
    for (const next of events.flatMap((kind) => semantics.step(state, { kind }).flat())) {
      const key = semantics.behaviourKey(next);
      if (seen.has(key)) continue;
      seen.add(key);
      if (next.place.kind === "lost" && next.place.cause === "expired") places.add(next.place.entity);
      open.push(next);
    }
  }
  return places;
}
