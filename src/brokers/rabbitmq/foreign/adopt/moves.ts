import type { Move } from "../../../../adopt/found.ts";
import type { Importable } from "../../../../adopt/imports-below.ts";
import type { RabbitmqCompiled } from "../../compile/compile.ts";
import { bindingKey } from "../../compile/differences.ts";
import { parseRabbitmqTarget } from "../../compile/target.ts";
import { type BrokerBinding, type EffectiveSettings, semanticsVersionOf } from "../../prove/semantics.ts";
import { type Deployment, namelessVirtualHost, targetOf } from "../deployment.ts";
import { sameWays } from "../left-ways.ts";
import { path, unbind } from "../leftovers.ts";
import { courseOf } from "./course.ts";
import { isSharedDelay } from "./frameworks.ts";
import { deadOf } from "./infer.ts";
import { lettersOut } from "./letters-out.ts";
import { lookAt } from "./looking.ts";
import { ownSystemOf } from "./own-system.ts";

/**
 * The consumers with a queue whose arguments would have to change, and the next name for the work queue of each.
 *
 * @param url of the management API; null if the input is a file
 */
export function movesOf(
  deployment: Deployment,
  compiled: RabbitmqCompiled,
  all: readonly Importable[],
  url: string | null,
): readonly Move[] {
  const fixed = new Set(all.flatMap(({ place, id, reason }) => (id === null || reason === null ? [] : [place])));
  const [host] = deployment.virtualHosts;
  if (host === undefined || fixed.size === 0) return [];
  const { topology } = compiled;
  const { topology: found } = host;
  const { name, ownName = name } = host;
  const virtualHost = ownName === namelessVirtualHost ? "VHOST" : ownName;
  const version = versionOf(deployment, compiled);
  const looking = lookAt(found, version);
  // The new queue gets these ways, too. By any other one messages come back from waiting, or nothing declares it.
  const declared = new Set([...topology.bindings, ...sameWays(found, compiled)].map(bindingKey));
  const isDeclared = (each: BrokerBinding): boolean => declared.has(bindingKey(each));
  const isLeft = (each: BrokerBinding): boolean => each.destinationKind === "exchange" || !isDeclared(each);
  const unbound = lookAt({ ...found, bindings: found.bindings.filter(isLeft) }, version);
  const known = [...found.queues, ...topology.queues].map(({ name }) => name);
  // In the middle of a move the new queue is there already.
  const started = new Set(looking.settings.flatMap((each) => (ownSystemOf(found, each) === null ? [] : [each.queue])));
  const ends = new Map(looking.settings.map((each) => [each.queue, deadQueueToday(looking, each)]));
  return topology.queues.flatMap(({ name: queue, role, consumer }): readonly Move[] => {
    if (role !== "work" || consumer === null) return [];
    const own = topology.queues.filter((each) => each.consumer === consumer);
    if (!own.some(({ name }) => fixed.has(`queue ${name}`))) return [];
    const [, stem = queue] = /^(.+)\.\d+$/.exec(queue) ?? [];
    let next = 2;
    // Its dead queue and its waiting queues begin with the same name.
    while (known.some((name) => name.startsWith(`${stem}.${next}`)) && !started.has(`${stem}.${next}`)) next++;
    known.push(`${stem}.${next}`);
    const waysIn = found.bindings.filter(
      ({ source, destination, destinationKind }) =>
        source !== "" && destination === queue && destinationKind === "queue",
    );
    const [doubled, others] = [waysIn.filter(isDeclared), waysIn.filter((each) => !isDeclared(each))];
    const { name: dead = "" } = own.find((each) => each.role === "dead") ?? {};
    const isDeadThere = found.queues.some(({ name }) => name === dead);
    const deadToday = isDeadThere ? dead : (ends.get(queue) ?? null);
    const isShared = [...ends.values()].filter((each) => each === deadToday).length > 1;
    const place = { workQueue: isShared ? null : queue, virtualHost, url };
    const before = waitsBefore(looking, queue);
    const waits = before.flatMap(({ name, isOwn }) => (isOwn ? [name] : []));
    const stillBefore = new Set(waitsBefore(unbound, queue).map(({ name }) => name));
    const staying = [...new Set(others.map(({ source }) => source))];
    const behindWaits = new Set<string | null>(
      looking.settings.flatMap((each) => (waits.includes(each.queue) ? [each.deadLetterExchange] : [])),
    );
    return [
      {
        consumer,
        queue,
        next: `${stem}.${next}`,
        hasFixedDead: fixed.has(`queue ${dead}`),
        letters: deadToday === null ? null : lettersOut(found, version, deadToday, place),
        unbind: doubled.map((each) => unbind(virtualHost, each)),
        staying,
        backWays: staying.filter((source) => behindWaits.has(source)),
        waits,
        takenOver: before.flatMap(({ name }) => (stillBefore.has(name) ? [] : [name])),
        remove: [queue, ...waits].map((name) => `DELETE ${path("queues", virtualHost, name)}`),
        isOrdered: found.queues.some(
          (each) => each.name === queue && each.arguments["x-single-active-consumer"] === true,
        ),
      },
    ];
  });
}

/** The dead queue that a work queue has today, also if others share it. */
function deadQueueToday(looking: ReturnType<typeof lookAt>, settings: EffectiveSettings): string | null {
  const { semantics, surroundings } = looking;
  const { queue } = settings;
  if (surroundings.shapeOf(queue) !== "work") return null;
  const [entry = { exchange: "", routingKey: queue }] = surroundings.entriesOf(settings);
  return deadOf(looking, queue, courseOf(semantics, settings, entry))?.value ?? null;
}

/** The waiting queues that lead to this work queue, but for those that a framework shares. */
function waitsBefore({ surroundings, settings }: ReturnType<typeof lookAt>, queue: string) {
  return settings
    .filter((each) => surroundings.shapeOf(each.queue) === "wait" && !isSharedDelay(each.queue))
    .map((each) => ({ name: each.queue, aims: surroundings.aimsOf(each) }))
    .filter(({ aims }) => aims.includes(queue))
    .map(({ name, aims }) => ({ name, isOwn: aims.every((aim) => aim === queue) }));
}

/** The version of the broker itself, or else that of the target. */
function versionOf(deployment: Deployment, { target }: RabbitmqCompiled) {
  const own = targetOf(deployment);
  if (own.ok && own.value !== null) return semanticsVersionOf(own.value);
  const compiled = parseRabbitmqTarget(target.split("@")[1] ?? "");
  if (!compiled.ok) throw new Error("a compiled system is for a known version");
  return semanticsVersionOf(compiled.value);
}
