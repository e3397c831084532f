import type { FoundConsumer, Inferred } from "../../../../adopt/found.ts";
import { deadElsewhere, deadOfOthers } from "../../../../adopt/owned-elsewhere.ts";
import { namedDeadQueue, purposeOf } from "../../../../foreign/purpose.ts";
import { type RabbitmqTarget, capabilitiesOf } from "../../compile/capabilities.ts";
import { defaultDeadQueue } from "../../compile/names.ts";
import { addQueue } from "../../compile/resources.ts";
import type { QueueResource, TopologyDraft } from "../../compile/topology.ts";
import type { BrokerTopology, EffectiveSettings } from "../../prove/semantics.ts";
import { type Course, courseIn } from "./course.ts";
import type { Looking } from "./looking.ts";
import { stayingSettingsOf } from "./queue-settings.ts";

/**
 * The dead queue is the end of the course. Otherwise a name shows it, because it contains that of the work queue. Or the
 * consumer has a dead-letter exchange to itself, with one queue for failures behind it.
 */
export function deadOf(
  { topology, surroundings, settings, named: chosen }: Looking,
  queue: string,
  course: Course,
): Inferred<string> | undefined {
  if (course.dead !== null && surroundings.shapeOf(course.dead) === "dead")
    return { value: course.dead, from: `messages of ${queue} end in ${course.dead}` };
  const others = settings
    .map((each) => each.queue)
    .filter((name) => surroundings.shapeOf(name) !== "wait" && !surroundings.takesEvents(name) && !chosen.has(name));
  const named = namedDeadQueue(queue, others);
  if (named !== undefined) return { value: named, from: `the name of ${named}` };
  const exchange = settings.find((each) => each.queue === queue)?.deadLetterExchange ?? "";
  const users = settings.filter(
    (each) => each.deadLetterExchange === exchange && surroundings.shapeOf(each.queue) === "work",
  );
  const behind = topology.bindings
    .filter((each) => each.source === exchange && each.destinationKind === "queue")
    .map(({ destination }) => destination)
    .filter((name) => others.includes(name) && purposeOf(name) === "failures" && !name.endsWith("skipped"));
  const [parking, ...more] = new Set(behind);
  return exchange === "" || users.length !== 1 || parking === undefined || more.length > 0
    ? undefined
    : { value: parking, from: `${parking} takes failed messages, and ${exchange} leads to it` };
}

/** The dead queue that a work queue has today, also if others share it. */
export function deadQueueToday(looking: Looking, settings: EffectiveSettings): string | null {
  const { semantics, surroundings } = looking;
  const { queue } = settings;
  if (surroundings.shapeOf(queue) !== "work") return null;
  return deadOf(looking, queue, courseIn(semantics, surroundings, settings))?.value ?? null;
}

/** The dead queue of a consumer, unless another one takes its place. */
export function deadFor(
  looking: Looking,
  queue: string,
  {
    found,
    isOwn,
    canStay,
    target,
    othersDead,
    elsewhere,
  }: {
    readonly found: Inferred<string> | undefined;
    readonly isOwn: boolean;
    readonly canStay: boolean;
    readonly target: RabbitmqTarget;
    readonly othersDead: ReadonlySet<string>;
    readonly elsewhere: readonly string[];
  },
) {
  const deadQueueSettings = found && stayingSettingsOf(looking, found.value, [], argumentsOfDead(target));
  const kept = { deadToday: found, dead: found, deadQueueSettings, unsaidDead: [] };
  if (found === undefined || isOwn) return kept;
  const left = { ...kept, dead: undefined, deadQueueSettings: undefined };
  const { value: place } = found;
  if (elsewhere.includes(place)) return { ...left, unsaidDead: [deadElsewhere(place, queue)] };
  const isShared = othersDead.has(place);
  // The work queue can stay, so it need not move because of its dead queue.
  if (!isShared && (!canStay || deadQueueSettings !== undefined)) return kept;
  const because = isShared ? undefined : "its settings cannot change";
  return { ...left, unsaidDead: [deadOfOthers(place, queue, because)] };
}

/** The arguments of a compiled dead queue. */
function argumentsOfDead(target: RabbitmqTarget): QueueResource["arguments"] | undefined {
  const draft: TopologyDraft = { exchanges: [], policies: [], queues: [], bindings: [] };
  addQueue(draft, capabilitiesOf(target), { name: "", role: "dead" });
  return draft.queues[0]?.arguments;
}

/** The settings of the dead queue that consumers share, if it can stay, and no others share another one. */
export function keptShared(consumers: readonly FoundConsumer[]): FoundConsumer["deadQueueSettings"] {
  const owners = Map.groupBy(consumers, ({ dead }) => dead?.value ?? null);
  owners.delete(null);
  const [shared = [], ...more] = [...owners.values()].filter((all) => all.length > 1);
  return more.length === 0 ? shared[0]?.deadQueueSettings : undefined;
}

/** Where consumers share a dead queue, one that puts no letters there gets another. */
export function withOwnDead(found: FoundConsumer, { queues }: BrokerTopology): FoundConsumer {
  if (found.dead !== undefined) return found;
  let value = defaultDeadQueue(found.queue);
  while (queues.some(({ name }) => name === value)) value = `${value}.2`;
  return { ...found, dead: { value, from: `${found.queue} has no dead queue of its own today` } };
}

/** Tells if letters of several work queues come into a dead queue, also as copies. */
export function commonAmong(looking: Looking, ends: ReadonlyMap<string, string | null>): (dead: string) => boolean {
  const reached = looking.settings.map((each) => new Set([...reachedBy(looking, each), ends.get(each.queue)]));
  return (dead) => reached.filter((each) => each.has(dead)).length > 1;
}

/** The queues that get a dead letter of a work queue, also as one of several copies. */
function reachedBy(
  { semantics, surroundings }: Looking,
  settings: Looking["settings"][number],
): readonly (string | undefined)[] {
  const { queue, deadLetterExchange: exchange, deadLetterRoutingKey: key } = settings;
  if (exchange === null || surroundings.shapeOf(queue) !== "work") return [];
  const keys = key === null ? surroundings.entriesOf(settings).map(({ routingKey }) => routingKey) : [key];
  return keys
    .slice(0, mostKeys)
    .flatMap((routingKey) => semantics.publish({ exchange, routingKey }).flat())
    .flatMap(({ place }) => (place.kind === "queue" ? [place.queue] : []));
}

/** The most keys of dead letters that are followed. */
const mostKeys = 50;
