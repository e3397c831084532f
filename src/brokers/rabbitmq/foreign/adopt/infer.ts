import type { FoundConsumer, FoundSource, FoundSystem, Inferred } from "../../../../adopt/found.ts";
import { nothingToAdopt } from "../../../../adopt/nothing-to-adopt.ts";
import { asDuration, formatDurationMs } from "../../../../declare/duration.ts";
import { ownedElsewhere } from "../../../../adopt/owned-elsewhere.ts";
import { systemsApart } from "../../../../adopt/systems-apart.ts";
import { type Checked, accepted, diagnostic } from "../../../../diagnostics/diagnostic.ts";
import { type RabbitmqTarget, capabilities, rabbitmqLimits } from "../../compile/capabilities.ts";
import { deadExchange, failedExchange, parkedQueue, sharedRole } from "../../compile/names.ts";
import { semanticsVersionOf } from "../../prove/semantics.ts";
import type { BrokerTopology, EffectiveSettings } from "../../prove/semantics.ts";
import type { Deployment, VirtualHost } from "../deployment.ts";
import { unroutedOf } from "../audit/partial-routes.ts";
import { courseIn } from "./course.ts";
import { frameworkOf, isSharedDelay } from "./frameworks.ts";
import { deadFor, deadOf, deadQueueToday, keptShared, withOwnDead } from "./dead-of.ts";
import { federated, isWorkQueue, leftOut, namedLikePart, refusalOf, strangeKeys } from "./left-out.ts";
import { type Looking, lookAt } from "./looking.ts";
import { isPartOf, ownSystemOf } from "./own-system.ts";
import { stayingSettingsOf } from "./queue-settings.ts";
import { type Schedule, scheduleOf } from "./schedule.ts";
import { sourcesOf } from "./sources-into.ts";
import { inferredArguments, lengthLimitsOf, unsaidOf, unsaidOfDead } from "./unsaid.ts";

const [singleActiveConsumer, queueLeaderLocator, quorumInitialGroupSize] = inferredArguments;

/**
 * Infers the consumers of one virtual host: the sources of each work queue, its retry policy and its dead queue.
 *
 * The retry policy is the course of a message whose every attempt fails, by the model of the broker. If the consumers
 * themselves publish to waiting queues, the delays of these are the schedule.
 *
 * @param only the work queues to adopt; empty for all
 * @returns a refusal if there is no work queue, or if the queues belong to several systems
 */
export function inferSystem(
  { virtualHosts }: Deployment,
  target: RabbitmqTarget,
  only: readonly string[],
  elsewhere: readonly string[] = [],
): Checked<FoundSystem> {
  const [host] = virtualHosts;
  const topology = host?.topology ?? { exchanges: [], queues: [], bindings: [], policies: [] };
  const looking = lookAt(topology, semanticsVersionOf(target), host?.shovels, only);
  const { settings } = looking;
  const isChosen = ({ queue }: EffectiveSettings): boolean => only.length === 0 || only.includes(queue);
  const own = new Set(settings.flatMap((each) => ownSystemOf(topology, each)?.system ?? []));
  const isPart = (each: EffectiveSettings): boolean =>
    ownSystemOf(topology, each) === null && [...own].some((system) => isPartOf(topology, each, system));
  const chosen = settings.filter((each) => isChosen(each) && isWorkQueue(looking, each) && !isPart(each));
  const missing = only.filter((name) => chosen.every(({ queue }) => queue !== name));
  const doubted = settings.filter(({ queue }) => only.length === 0 && looking.doubted.has(queue));
  const refused = [
    ...chosen.flatMap((each) => [
      ...ownedElsewhere([each.queue], elsewhere),
      ...federated(looking, each),
      ...strangeKeys(looking, each),
      ...namedLikePart(looking, each, chosen),
    ]),
    ...doubted.flatMap((each) => leftOut(looking, each, [])),
  ];
  const work = chosen.filter(({ queue }) => refused.every(({ place }) => place !== queue));
  if (missing.length > 0 || work.length === 0)
    return nothingToAdopt(
      missing,
      settings.length,
      "waiting queues, dead queues, streams, and queues of single instances",
      missing.length > 0 ? missing.map((place) => ({ place, fact: refusalOf(looking, place, isPart) })) : refused,
    );
  const systems = Map.groupBy(work, (each) => ownSystemOf(topology, each)?.system ?? null);
  if (systems.size > 1) return { ok: false, diagnostics: [severalSystems(systems)] };
  const [name = null] = systems.keys();
  const strategies = [...new Set(work.map((each) => ownSystemOf(topology, each)?.strategy ?? null))];
  // A dead queue may be shared with queues left out, and their letters would count as an adopted consumer's.
  const isOther = (each: EffectiveSettings): boolean =>
    !work.includes(each) && (only.length > 0 || chosen.includes(each));
  const othersDead = new Set(settings.filter(isOther).flatMap((each) => deadQueueToday(looking, each) ?? []));
  const inferred = work.map((each) => consumerOf(looking, each, { system: name, target, othersDead, elsewhere }));
  const all = inferred.map(({ consumer }) => consumer);
  const isOwnShared = name !== null && all.every(({ dead }) => dead?.value === deadExchange(name));
  const kept = name === null ? keptShared(all) : undefined;
  const withKept = kept === undefined ? all : all.map((each) => withOwnDead(each, topology));
  const deadQueues = [...new Set(inferred.flatMap(({ deadToday }) => deadToday ?? []))];
  const others =
    only.length > 0 ? [] : settings.filter((each) => !work.includes(each) && !doubted.includes(each) && !isPart(each));
  return accepted({
    name,
    strategy: strategies.length === 1 ? (strategies[0] ?? null) : null,
    ...(isOwnShared || kept !== undefined ? { options: { deadQueue: "shared" } } : {}),
    consumers: isOwnShared ? all.map((each) => ({ ...each, dead: undefined })) : withKept,
    queues: topology.queues.map(({ name: queue }) => queue),
    refused,
    unusedSources: name === null ? [] : unusedSources(topology, name),
    unsaid: [
      ...inferred.flatMap(({ unsaid }) => unsaid),
      ...deadQueues.flatMap((dead) => unsaidOfDead(looking, dead)),
      ...others.flatMap((each) => leftOut(looking, each, deadQueues)),
      ...(host === undefined || host.shovels !== undefined ? [] : [unknownShovels(host)]),
      ...(only.length > 0 || name !== null ? [] : systemsApart(all, waysIn(looking))),
    ],
  });
}

function unknownShovels({ name, ownName = name }: VirtualHost) {
  const fact =
    "this user may not read its shovels, so a queue that one empties counts as a work queue; the tag policymaker shows them";
  return { place: `the virtual host ${ownName}`, fact };
}

function waysIn({ topology, settings }: Looking): readonly (readonly [string, string])[] {
  return [
    ...topology.bindings.map(({ source, destination }) => [source, destination] as const),
    ...settings.flatMap(({ queue, deadLetterExchange, deadLetterRoutingKey }) => {
      const next = deadLetterExchange === "" ? deadLetterRoutingKey : deadLetterExchange;
      return next === null ? [] : [[next, queue] as const];
    }),
  ];
}

/** The place of the queue's settings, and its limits. A queue that stays gets no new arguments. */
function settingsOf(looking: Looking, settings: EffectiveSettings, hasTimeout: boolean) {
  const limits = lengthLimitsOf(looking, settings);
  const own = limits?.ownArguments ?? [];
  const timeout = hasTimeout ? ["x-consumer-timeout"] : [];
  const queueSettings = stayingSettingsOf(looking, settings.queue, [...inferredArguments, ...timeout, ...own]);
  return queueSettings === undefined || own.length > 0
    ? { queueSettings, lengthLimits: limits, unsaidLimits: [] }
    : { queueSettings, lengthLimits: undefined, unsaidLimits: limits?.unsaid ?? [] };
}

function consumerOf(
  looking: Looking,
  settings: EffectiveSettings,
  {
    system,
    target,
    othersDead,
    elsewhere,
  }: {
    readonly system: string | null;
    readonly target: RabbitmqTarget;
    readonly othersDead: ReadonlySet<string>;
    readonly elsewhere: readonly string[];
  },
) {
  const { semantics, surroundings } = looking;
  const { queue } = settings;
  const { consumerTimeoutPolicy: hasTimeout } = capabilities[target.version];
  const course = courseIn(semantics, surroundings, settings);
  const unrouted = unroutedOf(semantics, surroundings, settings);
  const framework = system === null ? frameworkOf(namesAround(looking, queue)) : null;
  const schedule = scheduleOf(looking, settings, course);
  const sources = sourcesOf(looking, queue, system);
  const { queueSettings, lengthLimits, unsaidLimits } = settingsOf(looking, settings, hasTimeout);
  const { deadToday, dead, deadQueueSettings, unsaidDead } = deadFor(looking, queue, {
    found: deadOf(looking, queue, course),
    isOwn: system !== null,
    canStay: queueSettings !== undefined,
    target,
    othersDead,
    elsewhere,
  });
  const crash = crashOf(looking, settings, schedule, system !== null);
  const timeout = timeoutOf(looking, queue);
  return {
    consumer: {
      queue,
      from: `the work queue ${queue}: ${sources.said.length + sources.unsaid.length === 0 ? "producers send straight to it" : "it takes messages from sources, and is no waiting or dead queue"}`,
      sources: sources.said,
      isLossy: course.end === "lost" || unrouted.length > 0,
      delaysMs: { value: schedule.delaysMs, from: schedule.from },
      crashDeliveries: crash,
      dead,
      // A queue that stays need not move because of a queue for parked letters that cannot change.
      parked: queueSettings !== undefined && system === null ? undefined : parkedOf(looking, queue, deadToday?.value),
      queueArguments: argumentsOf(looking, queue, hasTimeout),
      lengthLimits,
      handlerTimeoutMs: timeout,
      queueSettings,
      deadQueueSettings,
    },
    deadToday: deadToday?.value ?? null,
    unsaid: [
      ...sources.unsaid,
      ...schedule.unsaid.map((fact) => ({ place: queue, fact })),
      ...unsaidLimits,
      ...unsaidDead,
      ...(framework === null
        ? []
        : [{ place: queue, fact: `by its names ${framework.name} uses it: ${framework.schedule}` }]),
      ...unsaidOf(looking, settings, {
        course,
        unrouted,
        dead: deadToday?.value ?? null,
        isCounted: schedule.countsCrashes || settings.deliveryLimit !== null || system !== null,
        hasTimeout,
      }),
    ],
  };
}

/**
 * The names that show the framework of a queue. They begin like the queue's name, or belong to delays. The shared delays
 * of NServiceBus and Celery count if they lead to the queue, or to an exchange with its name.
 */
function namesAround({ topology }: Looking, queue: string): readonly string[] {
  const delays = topology.bindings.flatMap(({ source, destination }) =>
    destination === queue && isSharedDelay(source) ? [source] : [],
  );
  const others = [...topology.queues, ...topology.exchanges]
    .map(({ name }) => name)
    .filter((name) => name.startsWith("delay_") || name.startsWith(`${queue}_`));
  return [...delays, ...others];
}

/** The arguments that fit every strategy of the version. Others are among the facts that a declaration cannot say. */
function argumentsOf({ topology }: Looking, queue: string, hasTimeout: boolean): FoundConsumer["queueArguments"] {
  const given = topology.queues.find(({ name }) => name === queue)?.arguments ?? {};
  const names = { singleActiveConsumer, queueLeaderLocator, quorumInitialGroupSize };
  const found = Object.entries(names).flatMap(([key, argument]) =>
    given[argument] === undefined ? [] : [[key, given[argument]] as const],
  );
  const timeoutMs = hasTimeout ? given["x-consumer-timeout"] : undefined;
  const timeout = typeof timeoutMs === "number" && timeoutMs > 0 ? { consumerTimeout: asDuration(timeoutMs) } : {};
  const value = { ...Object.fromEntries(found), ...timeout };
  return Object.keys(value).length === 0 ? undefined : { value, from: `${queue} has these arguments` };
}

/** Nothing leads into a queue for parked letters, so only its name shows it. */
function parkedOf(
  { topology, surroundings }: Looking,
  queue: string,
  dead: string | undefined,
): Inferred<string> | undefined {
  const parked = parkedQueue(queue);
  if (parked === dead) return undefined;
  const isThere = topology.queues.some(({ name }) => name === parked) && surroundings.shapeOf(parked) === "dead";
  return isThere ? { value: parked, from: `${parked} is there` } : undefined;
}

/** The most crashes that a declaration takes, and those of a queue with the broker's default. */
const [mostCrashes, usualCrashes] = [1_000, 21];

/** Under a schedule of the broker's own counter, a crash is an attempt. */
function crashOf(
  { valuesOf }: Looking,
  settings: EffectiveSettings,
  { countsCrashes }: Schedule,
  isOwn: boolean,
): Inferred<number> | undefined {
  const { queue, deliveryLimit } = settings;
  if (countsCrashes) return undefined;
  if (deliveryLimit === null) {
    const from = `nothing counts the crashes of ${queue}; ${usualCrashes} are a guess, as under the default of RabbitMQ 4. Without crash, a crash counts as an attempt, and native needs the fewest queues`;
    return isOwn ? undefined : { value: usualCrashes, from };
  }
  if (deliveryLimit >= mostCrashes)
    return { value: mostCrashes, from: `the delivery limit of ${queue} is ${deliveryLimit}, and this is the most` };
  const from =
    "delivery-limit" in valuesOf(queue) ? `the delivery limit of ${queue}` : "the broker's own delivery limit";
  return { value: deliveryLimit + 1, from: `${from} is ${deliveryLimit}` };
}

/** The compiler writes a consumer timeout that leaves the broker's default as a reserve. */
function timeoutOf({ topology, valuesOf }: Looking, queue: string): Inferred<number> | undefined {
  const timeoutMs = valuesOf(queue)["consumer-timeout"];
  if (topology.queues.some(({ name, arguments: own }) => name === queue && "x-consumer-timeout" in own))
    return undefined;
  const reserveMs = rabbitmqLimits.consumerTimeoutMs;
  if (typeof timeoutMs !== "number" || timeoutMs < 2 * reserveMs) return undefined;
  return {
    value: timeoutMs - reserveMs,
    from: `consumer-timeout of ${queue} is ${formatDurationMs(timeoutMs)}, which leaves ${formatDurationMs(reserveMs)} of reserve`,
  };
}

function unusedSources({ exchanges, bindings }: BrokerTopology, system: string): readonly FoundSource[] {
  return exchanges.flatMap(({ name, kind }) => {
    if (!name.startsWith(`${system}.`) || sharedRole(system, name) !== null) return [];
    if (bindings.some(({ source }) => source === name) || name.endsWith(failedExchange(""))) return [];
    return [{ name, kind, keys: "all" as const, isOwn: true, from: `the exchange ${name}, without any binding` }];
  });
}

function severalSystems(systems: ReadonlyMap<string | null, readonly EffectiveSettings[]>) {
  const [first = []] = systems.values();
  const groups = [...systems].map(
    ([system, all]) =>
      `${system === null ? "no system of Redeliver's" : `the system ${system}`}: ${all.map(({ queue }) => queue).join(", ")}`,
  );
  return diagnostic("RD332", {
    path: "",
    message: `the work queues belong to ${systems.size} systems`,
    notes: groups,
    help: `adopt one system at a time: ${first.map(({ queue }) => `--queue ${queue}`).join(" ")}`,
  });
}
