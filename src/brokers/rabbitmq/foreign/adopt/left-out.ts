import type { Unsaid } from "../../../../adopt/found.ts";
import { formatDurationMs } from "../../../../declare/duration.ts";
import { type Purpose, purposeOf } from "../../../../foreign/purpose.ts";
import { failedExchange } from "../../compile/names.ts";
import type { EffectiveSettings } from "../../prove/semantics.ts";
import { type Looking, isOfMqtt, shovelFrom, waysInto } from "./looking.ts";
import { ownSystemOf } from "./own-system.ts";
import { sourcesOf } from "./sources-into.ts";

/**
 * Queues of single instances are not retried, and neither are delays of producers, copies and replies. These are guesses,
 * and the word of a person outweighs them.
 */
export function isWorkQueue(looking: Looking, settings: EffectiveSettings): boolean {
  const { queue } = settings;
  if (looking.named.has(queue) || ownSystemOf(looking.topology, settings) !== null) return true;
  if (shovelFrom(looking, queue) !== undefined) return false;
  if (looking.surroundings.shapeOf(queue) !== "work" || looking.delays.has(queue)) return false;
  return ownerOf(looking, settings) === null && useOf(looking, settings) === null;
}

/**
 * The sentence about a queue of a single instance. An argument `x-expires` makes the broker delete a queue without
 * consumers. A policy with `expires` may be for all queues, and shows nothing.
 */
function ownerOf({ topology, surroundings }: Looking, { queue, goesWith }: EffectiveSettings): string | null {
  if (isOfMqtt(queue)) return "it belongs to one client of MQTT, and a client does not retry";
  // Sources: kombu `pidbox.py`, Celery `events/receiver.py`.
  if (/^celeryev\.|\.pidbox$/.test(queue))
    return "Celery makes it for events or remote control, and deletes it by itself";
  const expires = topology.queues.find(({ name }) => name === queue)?.arguments["x-expires"];
  const isUnused = expires !== undefined && surroundings.shapeOf(queue) === "work";
  // A restart deletes a queue that is not durable, but instances may share it.
  return goesWith.some((end) => end !== "restart") || isUnused
    ? 'the broker deletes it by itself, so it belongs to one instance; write delivery: "every-instance" for its consumer'
    : null;
}

/**
 * The purpose by the name of a queue. A queue for copies or replies is a work queue if it keeps its failures: by an
 * argument, because a policy may be for all queues. So is one for failures that producers publish to, such as an event
 * `payment.failed`.
 */
function useOf({ topology, surroundings }: Looking, { queue }: EffectiveSettings): Purpose | null {
  const purpose = purposeOf(queue);
  const own = topology.queues.find(({ name }) => name === queue)?.arguments ?? {};
  const keepsFailures = "x-dead-letter-exchange" in own || "x-delivery-limit" in own;
  const isPublished =
    surroundings.fedBy(queue) === "producers" &&
    waysInto(topology, queue).some(({ source }) => purposeOf(source) !== "failures");
  const isRetried = keepsFailures && (purpose === "copies" || isPublished);
  return isRetried || surroundings.takesEvents(queue) ? null : purpose;
}

const otherUses = {
  failures: "it holds failed messages; if it has a consumer, name it with --queue",
  copies: "it holds copies or replies, and nobody retries these",
  tools: "a tool of NServiceBus consumes it, and retries by itself",
};

/** The facts about a queue without a declared consumer. */
export function leftOut(
  looking: Looking,
  settings: EffectiveSettings,
  deadQueues: readonly string[],
): readonly Unsaid[] {
  const { queue } = settings;
  const said = (fact: string): readonly Unsaid[] => [{ place: queue, fact }];
  const shape = looking.surroundings.shapeOf(queue);
  if (shape === "dead" && !deadQueues.includes(queue)) {
    const ways = waysInto(looking.topology, queue).filter(({ source }) =>
      looking.settings.some((each) => each.deadLetterExchange === source),
    );
    const unrouted = [...looking.surroundings.alternates].flatMap(([name, alternate]) =>
      waysInto(looking.topology, queue).some(({ source }) => source === alternate) ? [name] : [],
    );
    if (ways.length === 0 && unrouted.length > 0)
      return said(`it gets the messages of ${unrouted.join(", ")} that no binding takes, and stays as it is`);
    const letters = [...new Set(ways.map(({ source }) => source))].slice(0, 5).join(", ");
    const owner = looking.settings.find((each) => queue === `${each.queue}_skipped`)?.queue;
    const held =
      owner === undefined
        ? "it holds failed messages, and nothing shows whose"
        : `by its name it holds messages of ${owner} that MassTransit had no consumer for`;
    return said(
      `${letters === "" ? held : `it gets dead letters through ${letters}, and is not the dead queue of a declared consumer`}; its letters stay, and new ones go to the dead queue of each consumer`,
    );
  }
  if (shape === "stream" && !deadQueues.includes(queue))
    return said("it is a stream, and nothing is retried on a stream");
  const owner = ownerOf(looking, settings);
  if (owner !== null) return said(owner);
  const next = looking.delays.get(queue);
  if (next !== undefined)
    return said(
      `its messages go on to ${next.join(", ")} after ${formatDurationMs(settings.messageTtlMs ?? 0)}, so it seems to be a delay of producers, and stays as it is; if it has a consumer of its own, name it with --queue`,
    );
  const shovel = shape === "work" ? shovelFrom(looking, queue) : undefined;
  if (shovel !== undefined) return said(`the shovel ${shovel} takes its messages on, and nobody retries these`);
  const purpose = shape === "work" && !deadQueues.includes(queue) ? useOf(looking, settings) : null;
  return purpose === null ? [] : said(`by its name ${otherUses[purpose]}`);
}

/** The reason that a queue is none to adopt, although a person names it. */
export function refusalOf(looking: Looking, queue: string, isPart: (settings: EffectiveSettings) => boolean): string {
  const settings = looking.settings.find((each) => each.queue === queue);
  if (settings === undefined) return "the input has no queue of this name";
  if (isPart(settings)) return "Redeliver made it for a system, whose work queues bring it along";
  const shape = looking.surroundings.shapeOf(queue);
  if (shape === "wait") return "messages only wait in it, so it goes with the work queue that they come back to";
  if (shape === "dead") return "only dead letters of other queues come into it, so it goes with their work queues";
  return leftOut(looking, settings, []).map(({ fact }) => fact)[0] ?? "it is no work queue";
}

/** The reason to leave a work queue out whose policy federates it: one policy alone is in force on a queue. */
export function federated(looking: Looking, settings: EffectiveSettings): readonly Unsaid[] {
  const { queue } = settings;
  const values = looking.valuesOf(queue);
  const key = ["federation-upstream", "federation-upstream-set"].find((each) => values[each] !== undefined);
  if (key === undefined || ownSystemOf(looking.topology, settings) !== null) return [];
  return [
    {
      place: queue,
      fact: `it is left out: its policy has ${key}, and a compiled policy would take that one's place and end the link`,
    },
  ];
}

/** The reason to leave a queue of events out, such as `payment.failed`, that has the name of an exchange of `payment`. */
export function namedLikePart(
  { surroundings, named }: Looking,
  { queue }: EffectiveSettings,
  work: readonly EffectiveSettings[],
): readonly Unsaid[] {
  if (named.has(queue) || !surroundings.takesEvents(queue)) return [];
  const owner = work.find((each) => failedExchange(each.queue) === queue);
  if (owner === undefined) return [];
  const fact = `it is left out: an exchange of ${owner.queue} would have its name; adopt it apart, with --queue ${queue}`;
  return [{ place: queue, fact }];
}

/** The reason to leave a queue out that is bound with keys which no declaration can have. */
export function strangeKeys(looking: Looking, settings: EffectiveSettings): readonly Unsaid[] {
  const { queue } = settings;
  if (ownSystemOf(looking.topology, settings) !== null) return [];
  return sourcesOf(looking, queue, null).said.flatMap(({ name, kind, keys }) => {
    const all = Array.isArray(keys) ? (keys as readonly unknown[]).filter((key) => typeof key === "string") : [];
    const literal = kind === "direct" ? all.find((key) => /(^|\.)[*#](\.|$)/.test(key)) : undefined;
    const fact = all.includes("")
      ? `it is left out: it is bound to ${name} with an empty key, and a declaration has none`
      : `it is left out: it is bound to the direct exchange ${name} with ${JSON.stringify(literal)}, which matches this text alone. Bind it with whole keys, or to a topic exchange`;
    return all.includes("") || literal !== undefined ? [{ place: queue, fact }] : [];
  });
}
