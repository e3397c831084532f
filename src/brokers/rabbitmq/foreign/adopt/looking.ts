import {
  type BrokerBinding,
  type BrokerTopology,
  type EffectiveSettings,
  type Semantics,
  type SemanticsVersion,
  definitionInForce,
  indexPolicies,
  semanticsOf,
  versionRules,
} from "../../prove/semantics.ts";
import { purposeOf, wholeName } from "../../../../foreign/purpose.ts";
import { type QueueShape, type Surroundings, surroundingsOf } from "../audit/surroundings.ts";
import type { Shovel } from "../shovels.ts";
import { isSharedDelay } from "./frameworks.ts";

/** One topology with all that an inference asks about it. */
export type Looking = ReturnType<typeof lookAt>;

/** @param chosen the queues that a person names as work queues, which outweighs every guess about them */
export function lookAt(
  topology: BrokerTopology,
  version: SemanticsVersion,
  shovels: readonly Shovel[] = [],
  chosen: readonly string[] = [],
) {
  const semantics = semanticsOf(topology, version);
  const policies = indexPolicies(topology.policies);
  const queues = new Map(topology.queues.map((queue) => [queue.name, queue]));
  const settings = topology.queues.flatMap(({ name }) => semantics.settings(name) ?? []);
  const surroundings = surroundingsOf(topology, semantics);
  const ends = endsAmong(topology, settings, surroundings.aimsOf);
  const found = (queue: string): QueueShape => (ends.has(queue) ? "dead" : surroundings.shapeOf(queue));
  const named = new Set(chosen.filter((queue) => isGuess(queue, found(queue), surroundings)));
  const shapeOf = (queue: string): QueueShape => (named.has(queue) ? "work" : found(queue));
  const delays = delaysAmong(topology, settings, named, { ...surroundings, shapeOf, cycleOf: semantics.cycleOf });
  const delayedInto = new Set([...delays.values()].flat());
  return {
    topology,
    shovels,
    version,
    semantics,
    /** The queues that are work queues because a person says so. */
    named,
    surroundings: {
      ...surroundings,
      shapeOf: (queue: string) => (delayedInto.has(queue) ? ("work" as const) : shapeOf(queue)),
    },
    settings,
    /** The queues where messages of producers wait for their time, with the queues that they go on to. */
    delays,
    /** Those of them where only the time to live speaks against a work queue with a dead queue. */
    doubted: new Set(
      [...delays].filter(([, into]) => into.some((aim) => shapeOf(aim) === "dead")).map(([queue]) => queue),
    ),
    /** The arguments of a queue and the policies in force on it, by their keys without `x-`. */
    valuesOf: (name: string) => {
      const queue = queues.get(name);
      if (queue === undefined) return {};
      const given = Object.entries(queue.arguments).map(([key, value]) => [key.replace(/^x-/, ""), value] as const);
      return { ...definitionInForce(queue, policies, versionRules[version]), ...Object.fromEntries(given) };
    },
  };
}

/** False if the topology shows that a queue has no consumer to retry for: only dead letters or waiting messages come in. */
function isGuess(queue: string, shape: QueueShape, { fedBy }: Surroundings): boolean {
  if (shape === "stream" || isSharedDelay(queue) || isOfMqtt(queue)) return false;
  return shape === "wait" ? fedBy(queue) === "producers" : shape !== "dead" || fedBy(queue) !== "deaths";
}

/** A queue of one client. Source: `rabbit_mqtt_util:queue_name_bin/2`. */
export function isOfMqtt(queue: string): boolean {
  return queue.startsWith("mqtt-subscription-");
}

/**
 * The dead queues of a policy that gives every queue a dead-letter exchange. It matches its own dead queue as well, whose
 * dead letters come back to it, or are dropped as a cycle.
 */
function endsAmong(
  topology: BrokerTopology,
  settings: readonly EffectiveSettings[],
  aimsOf: (queue: EffectiveSettings) => readonly string[],
): ReadonlySet<string> {
  const isEnd = (each: EffectiveSettings): boolean => {
    const ways = waysInto(topology, each.queue);
    return (
      aimsOf(each).every((aim) => aim === each.queue) &&
      ways.length > 0 &&
      ways.every(({ source }) => source === each.deadLetterExchange)
    );
  };
  return new Set(settings.filter((each) => each.messageTtlMs === null && isEnd(each)).map(({ queue }) => queue));
}

/**
 * The queues with a time to live where producers publish, and whose dead letters reach consumers alone. A queue that
 * gets nothing else, and has no name for failures, has a consumer, too.
 */
function delaysAmong(
  topology: BrokerTopology,
  settings: readonly EffectiveSettings[],
  named: ReadonlySet<string>,
  { shapeOf, aimsOf, cycleOf }: Pick<Surroundings, "shapeOf" | "aimsOf"> & Pick<Semantics, "cycleOf">,
): ReadonlyMap<string, readonly string[]> {
  const dying = settings.filter((each) => each.deadLetterExchange !== null);
  const aims = new Map(dying.map((each) => [each.queue, [...new Set(aimsOf(each))]]));
  const timed = new Set(
    dying.filter(({ queue, messageTtlMs }) => messageTtlMs !== null && !named.has(queue)).map(({ queue }) => queue),
  );
  const failing = new Set([...aims].flatMap(([queue, into]) => (timed.has(queue) ? [] : into)));
  const hasConsumer = (queue: string): boolean =>
    shapeOf(queue) === "work" || (shapeOf(queue) === "dead" && purposeOf(queue) === null && !failing.has(queue));
  // Delays of producers differ in their time. Work queues have one policy and one dead queue, or a dead queue each.
  const alike = Map.groupBy(
    dying.filter((each) => shapeOf(each.queue) === "work"),
    (each) => JSON.stringify([each.messageTtlMs, aims.get(each.queue)]),
  );
  const crowded = new Set(
    [...alike.values()].filter((all) => all.length > 1).flatMap((all) => all.map(({ queue }) => queue)),
  );
  const isDeadOf = (queue: string, aim: string): boolean =>
    shapeOf(aim) === "dead" && (crowded.has(queue) || wholeName(queue).test(aim));
  // Producers publish to an exchange of work queues. A consumer publishes its failures to one that leads back to it.
  const hasLetters = new Set([...aims.values()].flat());
  const isBesideWork = (queue: string, into: readonly string[]): boolean =>
    shapeOf(queue) === "wait" &&
    !hasLetters.has(queue) &&
    waysInto(topology, queue).some(({ source }) => {
      const fed = topology.bindings.filter((each) => each.source === source && each.destinationKind === "queue");
      return (
        fed.some(({ destination }) => shapeOf(destination) === "work") &&
        !fed.some(({ destination }) => into.includes(destination))
      );
    });
  return new Map(
    [...aims].filter(
      ([queue, into]) =>
        timed.has(queue) &&
        (shapeOf(queue) === "work" || isBesideWork(queue, into)) &&
        into.length > 0 &&
        !into.some((aim) => isDeadOf(queue, aim)) &&
        // In a circle of queues with a time to live, one has a consumer.
        into.every((aim) => hasConsumer(aim) && !(timed.has(aim) && cycleOf(aim) === cycleOf(queue))),
    ),
  );
}

/** The waiting queues that lead to this work queue, also through each other, but for delays of producers. */
export function waitsBefore({ surroundings, settings, delays }: Looking, queue: string) {
  const waits = settings
    .filter((each) => surroundings.shapeOf(each.queue) === "wait")
    .filter((each) => !isSharedDelay(each.queue) && !delays.has(each.queue))
    .map((each) => ({ name: each.queue, aims: surroundings.aimsOf(each) }));
  const before = leadingTo(queue, waits);
  const leaving = waits.filter(
    ({ name, aims }) => before.has(name) && aims.some((aim) => aim !== queue && !before.has(aim)),
  );
  const others = new Set(leaving.flatMap(({ name }) => [name, ...leadingTo(name, waits)]));
  return [...before].map((name) => ({ name, isOwn: !others.has(name) }));
}

/** The queues without a consumer where letters wait before they come into a dead queue. */
export function pausesBefore(
  { surroundings, settings }: Looking,
  dead: string,
  own: readonly string[],
): readonly string[] {
  const pauses = settings
    .filter((each) => each.messageTtlMs !== null && surroundings.shapeOf(each.queue) !== "work")
    .filter((each) => !own.includes(each.queue))
    .map((each) => ({ name: each.queue, aims: surroundings.aimsOf(each) }));
  return [...leadingTo(dead, pauses)];
}

/** The queues of which one leads into the next, and the last into this one. */
function leadingTo(
  queue: string,
  all: readonly { readonly name: string; readonly aims: readonly string[] }[],
): ReadonlySet<string> {
  const before = new Set<string>();
  // The loop also reaches queues that are added to the set while it runs.
  const next = new Set([queue]);
  for (const into of next)
    for (const { name, aims } of all)
      if (name !== queue && aims.includes(into)) {
        before.add(name);
        next.add(name);
      }
  return before;
}

/** The bindings of a queue. The default exchange leads into each queue without one. */
export function waysInto({ bindings }: BrokerTopology, queue: string): readonly BrokerBinding[] {
  return bindings.filter(
    ({ source, destination, destinationKind }) => source !== "" && destination === queue && destinationKind === "queue",
  );
}

/** The shovel that takes the messages of a queue. */
export function shovelFrom({ shovels }: Looking, queue: string): string | undefined {
  return shovels.find(({ fromQueue }) => fromQueue === queue)?.name;
}
