import type { Unsaid } from "../../../../adopt/found.ts";
import { isNamedForWaiting, purposeOf, wholeName } from "../../../../foreign/purpose.ts";
import { parkedName } from "../../../../plan/names.ts";
import { pathOf } from "../../compile/differences.ts";
import type { ServicebusQueue } from "../../compile/topology.ts";
import type { NamedResource } from "../deployment.ts";
import { unsaid } from "../drift.ts";
import { type FoundEntity, entitiesIn } from "../found.ts";
import { reasonAgainst } from "./sources-into.ts";

/** The longest wait that a name need not show. */
const longestUnnamedWaitMs = 86_400_000;
/** An entity that lives shorter without a use belongs to one instance. MassTransit gives all entities 427 days. */
const longestInstanceIdleMs = 86_400_000;

/** A queue or subscription that is there, with its settings beside its names. */
export interface ReadEntity extends FoundEntity, Omit<ServicebusQueue, "kind" | "name" | "role" | "consumer"> {
  /** The name that clients use. */
  readonly path: string;
  /** Its dead letters go back into another queue when their time ends: people receive from that queue. */
  readonly isTier: boolean;
}

/** The queues and subscriptions among these. */
export function readEntities(resources: readonly NamedResource[]): readonly ReadEntity[] {
  const read = entitiesIn(resources).flatMap(readEntity);
  const fed = new Set(read.map(({ forwardTo }) => forwardTo));
  return read.map((each) => ({ ...each, isTier: isTier(each, fed) }));
}

function readEntity(entity: FoundEntity): readonly Omit<ReadEntity, "isTier">[] {
  if (entity.kind === "topic") return [];
  const known = Object.entries(entity.settings).filter(([key]) => !entity.hidden.has(key));
  return [{ ...unsaid, duplicateDetectionMs: null, ...Object.fromEntries(known), ...entity, path: pathOf(entity) }];
}

/**
 * A work queue may also have a time to live and forward its dead letters. But it forwards them to a queue for failures,
 * or other entities forward to it, or the time is long and no name speaks of waiting.
 *
 * @param fed the queues that others forward to
 */
function isTier(
  { kind, path, timeToLiveMs, forwardDeadLetteredTo: to, deadLetterOnExpiration }: Omit<ReadEntity, "isTier">,
  fed: ReadonlySet<string | null>,
): boolean {
  if (kind !== "queue" || timeToLiveMs === null || to === null || fed.has(path)) return false;
  if (deadLetterOnExpiration === false || purposeOf(to) === "failures") return false;
  return timeToLiveMs <= longestUnnamedWaitMs || isNamedForWaiting(path) || wholeName(to).test(path);
}

export function isReceivedFrom(entity: ReadEntity, all: readonly ReadEntity[]): boolean {
  const { kind, name, path, forwardTo, forwardDeadLetteredTo } = entity;
  if (forwardTo !== null || entity.isTier || ownerOf(entity).length > 0) return false;
  if (kind === "subscription") return true;
  if (all.some((each) => each.forwardTo === path || (each.isTier && each.forwardDeadLetteredTo === path))) return true;
  if (all.some((each) => parkedName(each.name, ".") === path)) return false;
  // Only a consumer makes dead letters of dead letters.
  if (forwardDeadLetteredTo === null && all.some((each) => each.forwardDeadLetteredTo === path)) return false;
  return purposeOf(name) === null;
}

/** The sentence about an entity of a single instance. */
export function ownerOf({ path, forwardTo, fixed: { autoDeleteOnIdleMs: idleMs } }: ReadEntity): readonly Unsaid[] {
  if (forwardTo !== null || idleMs === null || idleMs > longestInstanceIdleMs) return [];
  return [{ place: path, fact: "the broker deletes it by itself, so it belongs to one instance" }];
}

/**
 * A consumer that receives from a subscription that no declaration has. It would get a new queue, and the subscription
 * would go on filling without a receiver. The same happens if the entity forwards, and the input does not show it.
 */
export function refusalOf(entity: ReadEntity): readonly Unsaid[] {
  const reason = entity.hidden.has("forwardTo")
    ? "nothing shows if it forwards, because its forwardTo cannot be evaluated"
    : isSubscription(entity) && entity.forwardTo === null
      ? reasonAgainst(entity, entity.name)
      : null;
  return reason === null ? [] : [{ place: entity.path, fact: `it is left out: ${reason}` }];
}

export function isSubscription({ kind }: ReadEntity): boolean {
  return kind === "subscription";
}
