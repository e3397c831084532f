import type { BrokerBinding, BrokerTopology, EffectiveSettings, Semantics } from "../semantics.ts";
import { cyclesOf } from "../semantics.ts";
import { anyKeyLike, unknownHeaders } from "../unknown-message.ts";

/**
 * What a queue is for, as far as its place in the topology tells.
 *
 * - `wait`: messages expire there into a dead-letter exchange, and only dead letters or those who name it come in.
 * - `dead`: dead letters of consumers' queues come in, nothing else does, and it dead-letters nowhere.
 * - `work`: any other queue; somebody consumes it.
 */
export type QueueShape = "work" | "wait" | "dead" | "stream";

/** A topology, looked up. */
export interface Neighbourhood {
  readonly topology: BrokerTopology;
  readonly semantics: Semantics;
  readonly settings: readonly EffectiveSettings[];
  readonly kinds: ReadonlyMap<string, string>;
  /** The bindings that lead to each queue. */
  readonly incoming: ReadonlyMap<string, readonly BrokerBinding[]>;
  /** The alternate exchanges that are in force. */
  readonly alternates: ReadonlyMap<string, string>;
}

export interface Shapes {
  readonly shapes: ReadonlyMap<string, QueueShape>;
  /** The exchanges that dead letters go through; producers may publish to these too, which nothing tells. */
  readonly leadingOn: ReadonlySet<string>;
}

export function shapesOf(neighbourhood: Neighbourhood): Shapes {
  const { settings, incoming } = neighbourhood;
  const leadingOn = leadingOnOf(neighbourhood);
  const onlyFromThere = (queue: string): boolean =>
    (incoming.get(queue) ?? []).every(({ source }) => leadingOn.has(source));
  const named = new Set(
    settings.flatMap((each) => (each.deadLetterExchange === "" ? (each.deadLetterRoutingKey ?? []) : [])),
  );
  const waits = waitsOf(neighbourhood, onlyFromThere, named);
  const fedByWaits = fedBy(neighbourhood, waits);
  const shapeOf = ({ queue, kind, deadLetterExchange }: EffectiveSettings): QueueShape => {
    if (kind === "stream") return "stream";
    if (waits.has(queue)) return "wait";
    // What comes out of a wait queue is to be tried, so somebody consumes it.
    if (deadLetterExchange !== null || fedByWaits.has(queue) || !onlyFromThere(queue)) return "work";
    return named.has(queue) || (incoming.get(queue) ?? []).length > 0 ? "dead" : "work";
  };
  return { leadingOn, shapes: new Map(settings.map((each) => [each.queue, shapeOf(each)])) };
}

/** The exchanges that queues dead-letter to, and those that they are bound to or have for their alternates. */
function leadingOnOf({ topology, settings, incoming, alternates }: Neighbourhood): ReadonlySet<string> {
  const onward = Map.groupBy(
    topology.bindings.filter(({ destinationKind }) => destinationKind === "exchange"),
    ({ source }) => source,
  );
  const leadingOn = new Set(settings.flatMap((each) => each.deadLetterExchange ?? []).filter((name) => name !== ""));
  // What is added to a set is still met by the loop over it.
  for (const name of leadingOn) {
    for (const { destination } of onward.get(name) ?? []) leadingOn.add(destination);
    const alternate = alternates.get(name);
    if (alternate !== undefined) leadingOn.add(alternate);
  }
  // Who dead-letters is consumed; an exchange that such a queue is bound to is one that producers publish to as well.
  for (const { queue, deadLetterExchange, messageTtlMs } of settings) {
    if (deadLetterExchange === null || messageTtlMs !== null) continue;
    for (const { source } of incoming.get(queue) ?? []) leadingOn.delete(source);
  }
  return leadingOn;
}

/** The wait queues. Of a consumer's queue with a time to live they differ in who puts messages into them, or in that they come and go. */
function waitsOf(
  neighbourhood: Neighbourhood,
  onlyFromThere: (queue: string) => boolean,
  named: ReadonlySet<string>,
): ReadonlySet<string> {
  const { settings, incoming } = neighbourhood;
  const byName = new Map(settings.map((each) => [each.queue, each]));
  const waits = new Set<string>();
  for (const each of settings) {
    const { queue, kind, deadLetterExchange, messageTtlMs, expiresMs } = each;
    if (kind === "stream" || deadLetterExchange === null) continue;
    // Frameworks make such a queue for each delay, and have it go when it is no longer used (Symfony, Laravel, Celery).
    const comesAndGoes = messageTtlMs !== null && expiresMs !== null && expiresMs >= messageTtlMs;
    const isWait =
      messageTtlMs === null
        ? !named.has(queue) && (incoming.get(queue) ?? []).length === 0 && isAimedAtConsumer(each)
        : comesAndGoes || onlyFromThere(queue);
    if (isWait) waits.add(queue);
  }
  for (const queue of consumedInCycles(neighbourhood, waits, byName)) waits.delete(queue);
  return waits;

  /** Who publishes to it sets each message's own expiration: it leads nowhere but to a queue that is certainly consumed. */
  function isAimedAtConsumer({ queue, deadLetterExchange, deadLetterRoutingKey }: EffectiveSettings): boolean {
    if (deadLetterExchange !== "" || deadLetterRoutingKey === null || deadLetterRoutingKey === queue) return false;
    const target = byName.get(deadLetterRoutingKey);
    return (
      target !== undefined &&
      target.deadLetterExchange !== null &&
      target.messageTtlMs === null &&
      !onlyFromThere(target.queue)
    );
  }
}

/** In a cycle of nothing but wait queues somebody must consume one of them. It is the one in which messages may stay for the longest. */
function consumedInCycles(
  { topology, settings, alternates }: Neighbourhood,
  waits: ReadonlySet<string>,
  byName: ReadonlyMap<string, EffectiveSettings>,
): string[] {
  if (waits.size < 2) return [];
  const cycles = cyclesOf(topology, byName, alternates);
  const members = Map.groupBy(settings, ({ queue }) => cycles.get(queue) ?? -1);
  return [...members.values()].flatMap((cycle) => {
    if (cycle.length < 2 || cycle.some(({ queue }) => !waits.has(queue))) return [];
    const [consumed] = cycle.toSorted(
      (left, right) => (right.messageTtlMs ?? 0) - (left.messageTtlMs ?? 0) || left.queue.length - right.queue.length,
    );
    return consumed === undefined ? [] : [consumed.queue];
  });
}

/** Where messages come when they have waited, by whatever of the keys that they can have. */
function fedBy({ semantics, incoming, kinds, settings }: Neighbourhood, waits: ReadonlySet<string>): Set<string> {
  const fed = new Set<string>();
  for (const { queue, deadLetterRoutingKey } of settings) {
    if (!waits.has(queue)) continue;
    const [inQueue] = semantics
      .publish({ exchange: "", routingKey: queue, headers: { [unknownHeaders]: true } })
      .flat();
    if (inQueue === undefined) continue;
    const bindings = deadLetterRoutingKey === null ? (incoming.get(queue) ?? []) : [];
    const keys = new Set(bindings.map((binding) => keyThrough(kinds.get(binding.source), binding)));
    for (const key of keys.size === 0 ? [anyKeyLike("#")] : keys) {
      const waiting = { ...inQueue, routingKeys: [key], expiresAfterMs: 1 };
      for (const { place } of semantics.step(waiting, { kind: "expire" }).flat()) {
        if (place.kind === "queue" && place.status === "ready") fed.add(place.queue);
      }
    }
  }
  return fed;
}

/** What a binding tells of the keys of the messages that come through it. */
export function keyThrough(kind: string | undefined, { routingKey }: BrokerBinding): string {
  if (kind === "direct") return routingKey;
  if (kind !== "topic") return anyKeyLike("#");
  return /(^|\.)[*#](\.|$)/.test(routingKey) ? anyKeyLike(routingKey) : routingKey;
}
