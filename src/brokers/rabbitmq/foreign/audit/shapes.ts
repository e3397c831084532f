import type {
  BrokerBinding,
  BrokerTopology,
  EffectiveSettings,
  MessageState,
  Semantics,
} from "../../prove/semantics.ts";
import { type TopicIndex, topicIndex } from "../../prove/topic-index.ts";
import { anyKeyLike, keyThrough, unknownHeaders } from "../../prove/unknown-message.ts";
import { isSharedDelay } from "../adopt/frameworks.ts";
import { isNamedForEnds, isNamedForWaiting, mayBeOfEvents, purposeOf } from "../../../../foreign/purpose.ts";

/**
 * The purpose of a queue, as far as its place in the topology shows.
 *
 * - `wait`: messages expire there into a dead-letter exchange. Only dead letters come in, and messages that a publisher
 *   sends to it by name.
 * - `dead`: it dead-letters nowhere. Only dead letters of consumers' queues come in, or its name says that failures do.
 * - `work`: any other queue, with a consumer.
 */
export type QueueShape = "work" | "wait" | "dead" | "stream";

/** A topology with indexes for look-ups. */
export interface Neighbourhood {
  readonly topology: BrokerTopology;
  readonly semantics: Semantics;
  readonly settings: readonly EffectiveSettings[];
  readonly kinds: ReadonlyMap<string, string>;
  readonly incoming: ReadonlyMap<string, readonly BrokerBinding[]>;
  readonly alternates: ReadonlyMap<string, string>;
}

export function shapesOf(neighbourhood: Neighbourhood) {
  const { settings, incoming } = neighbourhood;
  const leadingOn = leadingOnOf(neighbourhood);
  const keysInto = deadLetterKeys(neighbourhood);
  const published = publishedAmong(neighbourhood, keysInto);
  const isForDeaths = (binding: BrokerBinding): boolean =>
    leadingOn.has(binding.source) &&
    takesSome(neighbourhood, binding, keysInto) &&
    (!published.has(binding.source) || keysInto.get(binding.source)?.containing(binding.routingKey).length !== 0);
  const onlyFromThere = (queue: string): boolean => (incoming.get(queue) ?? []).every(isForDeaths);
  const named = new Set(
    settings.flatMap((each) => (each.deadLetterExchange === "" ? (each.deadLetterRoutingKey ?? []) : [])),
  );
  const withEvents = new Set(
    settings.flatMap(({ queue }) => (hasEvents(neighbourhood, queue, keysInto) ? [queue] : [])),
  );
  const takesEvents = (queue: string): boolean => withEvents.has(queue);
  const waits = waitsOf(neighbourhood, onlyFromThere, named);
  // The queues that messages reach after a wait, with any of their possible keys.
  const waiting = settings.filter(({ queue }) => waits.has(queue));
  const fedByWaits = new Set(waiting.flatMap((each) => aimsOf(neighbourhood, each)));
  const fedBy = (queue: string): "producers" | "deaths" | null =>
    !onlyFromThere(queue) ? "producers" : named.has(queue) || (incoming.get(queue) ?? []).length > 0 ? "deaths" : null;
  const shapeOf = ({ queue, kind, deadLetterExchange }: EffectiveSettings): QueueShape => {
    if (kind === "stream") return "stream";
    if (waits.has(queue)) return "wait";
    if (deadLetterExchange === null && purposeOf(queue) === "failures" && !takesEvents(queue)) return "dead";
    // A message that comes out of a wait queue is due for an attempt, so its queue has a consumer.
    if (deadLetterExchange !== null || fedByWaits.has(queue)) return "work";
    return fedBy(queue) === "deaths" ? "dead" : "work";
  };
  const fedByDeaths = new Set(
    [...waits].filter((queue) => named.has(queue) || ((incoming.get(queue) ?? []).length > 0 && onlyFromThere(queue))),
  );
  const aims = new Map<string, readonly string[]>();
  return {
    /** The senders of a queue's messages, as far as bindings and dead-letter exchanges show them. */
    fedBy,
    takesEvents,
    /** The exchanges that dead letters go through. Producers may publish to these too, but no source shows it. */
    leadingOn,
    /** The wait queues that dead letters come into, so that producers need not publish there. */
    fedByDeaths,
    /** The queues that messages reach when they expire in a queue. */
    aimsOf: (each: EffectiveSettings): readonly string[] => {
      const known = aims.get(each.queue) ?? aimsOf(neighbourhood, each);
      aims.set(each.queue, known);
      return known;
    },
    shapes: new Map(settings.map((each) => [each.queue, shapeOf(each)])),
  };
}

/** The exchanges that queues dead-letter to, and the exchanges that these lead to by bindings or as alternates. */
function leadingOnOf({ topology, settings, incoming, alternates }: Neighbourhood): ReadonlySet<string> {
  const onward = Map.groupBy(
    topology.bindings.filter(({ destinationKind }) => destinationKind === "exchange"),
    ({ source }) => source,
  );
  const leadingOn = new Set(settings.flatMap((each) => each.deadLetterExchange ?? []).filter((name) => name !== ""));
  // The loop also reaches elements that are added to the set while it runs.
  for (const name of leadingOn) {
    for (const { destination } of onward.get(name) ?? []) leadingOn.add(destination);
    const alternate = alternates.get(name);
    if (alternate !== undefined) leadingOn.add(alternate);
  }
  // A queue that dead-letters without a time to live has a consumer. So producers also publish to the exchanges that it
  // is bound to, unless it gets messages that they delay from there.
  const delayed = settings.filter(
    ({ queue, messageTtlMs }) =>
      messageTtlMs !== null && (incoming.get(queue) ?? []).some(({ source }) => !leadingOn.has(source)),
  );
  const isDelayed = ({ source, routingKey }: BrokerBinding): boolean =>
    delayed.some((each) => each.deadLetterExchange === source && each.deadLetterRoutingKey === routingKey);
  const published = settings
    .filter(({ deadLetterExchange, messageTtlMs }) => deadLetterExchange !== null && messageTtlMs === null)
    .flatMap(({ queue }) => incoming.get(queue) ?? [])
    .filter((binding) => !isDelayed(binding));
  for (const { source } of published) leadingOn.delete(source);
  return leadingOn;
}

/**
 * Finds the wait queues. Unlike a consumer's queue with a time to live, a wait queue gets only dead letters, has a name
 * for waiting, or comes and goes.
 */
function waitsOf(
  neighbourhood: Neighbourhood,
  onlyFromThere: (queue: string) => boolean,
  named: ReadonlySet<string>,
): ReadonlySet<string> {
  const { settings, incoming } = neighbourhood;
  const byName = new Map(settings.map((each) => [each.queue, each]));
  const { cycleOf } = neighbourhood.semantics;
  const sizes = Map.groupBy(byName.keys(), cycleOf);
  const isInCircle = (queue: string): boolean => (sizes.get(cycleOf(queue))?.length ?? 0) > 1;
  const waits = new Set<string>();
  for (const each of settings) {
    const { queue, kind, deadLetterExchange, messageTtlMs, expiresMs } = each;
    if (kind === "stream" || deadLetterExchange === null) continue;
    // Symfony, Laravel and Celery make such a queue for each delay. It goes away when they no longer use it.
    const comesAndGoes = messageTtlMs !== null && expiresMs !== null && expiresMs >= messageTtlMs;
    const isWait =
      messageTtlMs === null
        ? (isNamedForWaiting(queue) && leadsOn(each)) ||
          (!named.has(queue) && (incoming.get(queue) ?? []).length === 0 && isAimedAtConsumer(each))
        : comesAndGoes ||
          (onlyFromThere(queue) && !aimsAtFailures(each)) ||
          (isNamedForWaiting(queue) && !isInCircle(queue));
    if (isWait) waits.add(queue);
  }
  // Several wait queues may add up to a delay. A queue that sends on to a wait queue, and gets nothing back, is one of
  // them.
  for (const each of settings.toReversed()) {
    if (each.messageTtlMs === null || waits.has(each.queue) || isInCircle(each.queue)) continue;
    if (each.deadLetterExchange !== null && aimsOf(neighbourhood, each).some((queue) => waits.has(queue))) {
      waits.add(each.queue);
    }
  }
  for (const queue of consumedInCycles(neighbourhood, waits)) waits.delete(queue);
  return waits;

  /**
   * True if its publishers probably set the expiration of each message: it leads only to queues that certainly have a
   * consumer.
   */
  function isAimedAtConsumer(each: EffectiveSettings): boolean {
    if (each.deadLetterExchange === "" && each.deadLetterRoutingKey === null) return false;
    const targets = aimsOf(neighbourhood, each).map((queue) => byName.get(queue));
    return (
      targets.length > 0 &&
      targets.every(
        (target) =>
          target !== undefined &&
          target !== each &&
          target.deadLetterExchange !== null &&
          target.messageTtlMs === null &&
          // Some binding is for producers, and not for messages from queues of this kind.
          !onlyFromThere(target.queue),
      )
    );
  }

  /** True if expired messages are given up instead of tried later. */
  function aimsAtFailures(each: EffectiveSettings): boolean {
    const aims = aimsOf(neighbourhood, each);
    return aims.length > 0 && aims.every(isNamedForEnds);
  }

  function leadsOn(each: EffectiveSettings): boolean {
    const aims = aimsOf(neighbourhood, each);
    return aims.some((queue) => queue !== each.queue && purposeOf(queue) !== "failures");
  }
}

/** A message in a queue that any publisher may have sent there. Undefined if there is no such queue. */
export function messageIn(semantics: Semantics, queue: string): MessageState | undefined {
  return semantics.publish({ exchange: "", routingKey: queue, headers: { [unknownHeaders]: true } }).flat()[0];
}

/** The queues that messages go to when they expire. They have the keys of the queue's bindings, or any key. */
function aimsOf({ semantics, incoming, kinds }: Neighbourhood, settings: EffectiveSettings): string[] {
  const { queue, deadLetterRoutingKey } = settings;
  const inQueue = messageIn(semantics, queue);
  if (inQueue === undefined) return [];
  const bindings = deadLetterRoutingKey === null ? (incoming.get(queue) ?? []) : [];
  const keys = new Set(bindings.map((binding) => keyThrough(kinds.get(binding.source), binding)));
  return (keys.size === 0 ? [anyKeyLike("#")] : [...keys]).flatMap((key) =>
    semantics
      .step({ ...inQueue, routingKeys: [key], expiresAfterMs: 1 }, { kind: "expire" })
      .flat()
      .flatMap(({ place }) => (place.kind === "queue" && place.status === "ready" ? [place.queue] : [])),
  );
}

/**
 * In a cycle of wait queues alone, one of them must have a consumer. The audit takes the queue with the longest time to
 * live.
 */
function consumedInCycles({ semantics, settings }: Neighbourhood, waits: ReadonlySet<string>): string[] {
  if (waits.size < 2) return [];
  const members = Map.groupBy(settings, ({ queue }) => semantics.cycleOf(queue));
  return [...members.values()].flatMap((cycle) => {
    if (cycle.length < 2 || cycle.some(({ queue }) => !waits.has(queue))) return [];
    const [consumed] = cycle.toSorted(
      (left, right) => (right.messageTtlMs ?? 0) - (left.messageTtlMs ?? 0) || left.queue.length - right.queue.length,
    );
    return consumed === undefined ? [] : [consumed.queue];
  });
}

/** The patterns of the routing keys that dead letters bring into each exchange, and `#` for any key. */
type KeysInto = ReadonlyMap<string, TopicIndex<string>>;

function deadLetterKeys({ settings, incoming, kinds }: Neighbourhood): KeysInto {
  const keys = new Map<string, Set<string>>();
  for (const { queue, deadLetterExchange, deadLetterRoutingKey } of settings) {
    if (deadLetterExchange === null || deadLetterExchange === "") continue;
    const known = keys.get(deadLetterExchange) ?? new Set();
    keys.set(deadLetterExchange, known);
    const own = (incoming.get(queue) ?? []).map(({ source, routingKey }) =>
      ["direct", "topic"].includes(kinds.get(source) ?? "") ? routingKey : "#",
    );
    // Producers that publish to the queue directly use its name as the key.
    for (const key of deadLetterRoutingKey === null ? [queue, ...own] : [deadLetterRoutingKey]) known.add(key);
  }
  return new Map(
    [...keys].map(([name, all]) => [name, topicIndex([...all].map((key) => ({ pattern: key, item: key })))]),
  );
}

/** True if a binding takes some of the dead letters that come to its exchange. Also true if that is unknown. */
function takesSome({ kinds }: Neighbourhood, { source, routingKey }: BrokerBinding, keysInto: KeysInto): boolean {
  const keys = keysInto.get(source);
  // An exchange also gets the messages of exchanges that lead to it, and this function does not follow those. A
  // consumer may publish to an exchange named for failures, with a key of its own.
  if (keys === undefined || purposeOf(source) === "failures") return true;
  return !["direct", "topic"].includes(kinds.get(source) ?? "") || keys.overlap(routingKey).length > 0;
}

/**
 * The exchanges for dead letters that producers publish to as well. A binding shows it that takes none of the dead letters,
 * and leads to a queue with neither a dead-letter exchange nor a name for failures or waiting.
 */
function publishedAmong(neighbourhood: Neighbourhood, keysInto: KeysInto): ReadonlySet<string> {
  const dying = new Set(
    neighbourhood.settings.filter((each) => each.deadLetterExchange !== null).map(({ queue }) => queue),
  );
  return new Set(
    [...neighbourhood.incoming.values()].flat().flatMap((binding) => {
      const { source, destination } = binding;
      const isPlain = !dying.has(destination) && purposeOf(destination) === null && !isNamedForWaiting(destination);
      return isPlain && !takesSome(neighbourhood, binding, keysInto) ? [source] : [];
    }),
  );
}

/**
 * True if a queue subscribes to an exchange like work queues do, so that a word such as "failed" in its name is that of an
 * event. A direct exchange that has the queue's name as the key may carry its failures, and so may dead letters.
 * MassTransit and NServiceBus lead the exchange of a message into an exchange with the name of the queue.
 */
function hasEvents(neighbourhood: Neighbourhood, queue: string, keysInto: KeysInto): boolean {
  if (!mayBeOfEvents(queue)) return false;
  const isSubscribed = neighbourhood.topology.bindings.some(
    ({ source, destination, destinationKind }) =>
      destinationKind === "exchange" &&
      destination === queue &&
      !isSharedDelay(source) &&
      (purposeOf(source) === null || mayBeOfEvents(source)),
  );
  return (neighbourhood.incoming.get(queue) ?? []).some((binding) => {
    const { source, routingKey } = binding;
    if (source === queue && isSubscribed && !keysInto.has(source)) return true;
    const isAddress = neighbourhood.kinds.get(source) === "direct" && routingKey === queue;
    const isDying = keysInto.has(source) && takesSome(neighbourhood, binding, keysInto);
    return (
      purposeOf(source) !== "failures" &&
      !isAddress &&
      !isDying &&
      neighbourhood.topology.bindings.some(
        (each) => each.source === source && each.destinationKind === "queue" && purposeOf(each.destination) === null,
      )
    );
  });
}
