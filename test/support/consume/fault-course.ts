import type { GetMessage } from "amqplib";

import { type ConsumeOptions, describeDeadLetter, permanent } from "../../../src/consume/index.ts";
import type { Cluster } from "../broker-cluster.ts";
import { sleep, until } from "../deployed-system.ts";
import { createManagement, type JsonObject } from "../management.ts";
import { ordinaryFates, permanentReason } from "../random-fates.ts";
import { type AmqpProxy, startAmqpProxy } from "./amqp-proxy.ts";
import { type ConsumedSystem, consumeFrom } from "./consumed.ts";
import type { Filled, Strategy } from "./fates.ts";
import { fill, idOf, mostDeadLettersDoubled, mostLostByBroker, takeLetters } from "./fates.ts";
import { type FaultName, faults, type FaultStage } from "./faults.ts";
import type { FaultedRun, Judged, Moment, Observed, Stall } from "./judge-faults.ts";
import { isUnanswered, judgeFaulted } from "./judge-faults.ts";
import { type ServedTimes, watchServedTimes } from "./served-times.ts";

/** The most messages that a consumer of these courses may hold. */
export const concurrency = 10;
const momentMs = 100;
/** The broker counts unsettled messages every five seconds. Source: `quorum_tick_interval`. */
const countMs = 1_000;
/** The time for the consumers to go on after a fault. */
const goOnWithinMs = 20_000;
const drainWithinMs = 180_000;

export interface CourseRecord extends Judged {
  readonly strategy: Strategy;
  readonly confirmed: number;
  /** The number of messages that had not ended when the last fault was over. */
  readonly leftAfterFaults: number;
  /** The number of messages that the contract allows to double. */
  readonly mostDoubled: number;
  readonly mostLostByBroker: number;
  /** From the consumer's own count. */
  readonly heldAtMost: number;
  /**
   * From the broker's count, with its limit. The broker may not yet know that a connection is lost, or may count on two
   * leaders.
   */
  readonly unsettledAtMost: number;
  readonly mostUnsettled: number;
  /** The number of times that the consumer took failures for an outage. */
  readonly pauses: number;
  readonly connectionsLost: number;
  /** The last fault before the end of the stall; `drain` if all were over. */
  readonly stalledBy: FaultName | "drain" | null;
  readonly unexcusedBy: FaultName | "drain" | null;
  /** The reason that not all messages ended in time; null if they did. */
  readonly unfinished: string | null;
}

export interface FaultCourse {
  /** Plays one fault and waits until the consumers go on, or until their time is over. */
  readonly play: (name: FaultName, forMs: number) => Promise<void>;
  /** Waits until every message is handled, and judges. */
  readonly finish: () => Promise<readonly CourseRecord[]>;
  /** Stops everything, at any stage. */
  readonly close: () => Promise<void>;
}

/** A consumer, with the test's records of it. */
interface Watched extends Filled {
  readonly links: readonly AmqpProxy[];
  readonly runs: FaultedRun[];
  readonly events: Observed["events"][number][];
  readonly moments: (Omit<Moment, "isServed" | "isServedByAny"> & {
    readonly nodes: readonly number[];
    readonly isFullOfFailures: boolean;
  })[];
  readonly ended: Set<string>;
  /** Failed attempts that are not settled. */
  readonly failed: Set<string>;
  running: ConsumedSystem["running"] | null;
  /** True when the examined consumer has stopped and another one does the rest. */
  isFinishing: boolean;
  startedAtMs: number;
  heldAtMost: number;
  unsettledAtMost: number;
}

interface Stage extends FaultStage {
  readonly watched: readonly Watched[];
  readonly served: ServedTimes;
  readonly played: { readonly name: FaultName; readonly atMs: number; untilMs: number }[];
  /** The time when all that was over; null before. */
  drainedFromMs: number | null;
  handlingMs: number;
}

/**
 * Starts a consumer of each strategy on a cluster, with this many messages each, and a link to each node. At first all
 * connect to the first node.
 */
export async function startFaultCourse(
  cluster: Cluster,
  strategies: readonly Strategy[],
  course: {
    /** For each strategy. */
    readonly count: number;
    readonly seed: number;
    /** The average time of a handler. It is so long that messages remain at the end of the last fault. */
    readonly handlingMs: number;
  },
): Promise<FaultCourse> {
  const [first] = cluster.nodes;
  if (first === undefined) throw new Error("the cluster has no nodes");
  const { count, seed, handlingMs } = course;
  const fates = ordinaryFates(seed);
  const filled = await Promise.all(strategies.map((strategy) => fill(first.broker, strategy, count, fates)));
  const served = await watchServedTimes(cluster);
  const watched = await Promise.all(filled.map(async (each) => watch(each, cluster)));
  const stage: Stage = {
    cluster,
    vhosts: [served.vhost, ...filled.map(({ system }) => system.vhost)],
    links: cluster.nodes.map((_, node) => watched.map(({ links }) => links[node] as AmqpProxy)),
    isOutage: false,
    watched,
    served,
    played: [],
    drainedFromMs: null,
    handlingMs,
  };
  await Promise.all(watched.map((each) => start(stage, each, {})));
  for (const link of stage.links.flat()) link.refuses = false;
  const timers = [
    setInterval(() => watched.forEach(noteMoment), momentMs),
    setInterval(() => void noteUnsettled(stage), countMs),
  ];
  return {
    play: async (name, forMs) => {
      const playing = { name, atMs: Date.now(), untilMs: Infinity };
      stage.played.push(playing);
      await faults[name].play(stage, forMs);
      playing.untilMs = Date.now();
      await haveGoneOn(stage);
    },
    finish: () => finish(stage),
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      served.stop();
      await Promise.all(watched.map(({ running }) => running?.stop("1s")));
      await Promise.all(stage.links.flat().map((link) => link.close()));
      await Promise.all(stage.vhosts.map((vhost) => createManagement(first.broker.managementUrl).deleteVhost(vhost)));
    },
  };
}

async function watch(filled: Filled, { nodes }: Cluster): Promise<Watched> {
  const links = await Promise.all(
    nodes.map(({ broker }) =>
      startAmqpProxy(Object.assign(new URL(filled.system.url), { host: new URL(broker.amqpUrl).host }).href),
    ),
  );
  for (const link of links.slice(1)) link.refuses = true;
  return {
    ...filled,
    links,
    runs: [],
    events: [],
    moments: [],
    ended: new Set(),
    failed: new Set(),
    running: null,
    isFinishing: false,
    startedAtMs: 0,
    heldAtMost: 0,
    unsettledAtMost: 0,
  };
}

async function start(stage: Stage, watched: Watched, otherwise: Partial<ConsumeOptions<"rabbitmq">>): Promise<void> {
  const { system, links, fates, runs, events, ended, failed } = watched;
  const { broker } = stage.cluster.nodes[0] as Cluster["nodes"][number];
  const options: Partial<ConsumeOptions<"rabbitmq">> = {
    connection: { url: links.map(({ url }) => url), managementUrl: broker.managementUrl },
    concurrency,
    log: (event) => {
      events.push({ atMs: Date.now(), event });
      if (event.kind === "settled" || event.kind === "settle-dropped")
        failed.delete(`${event.messageId} ${event.attempt}`);
      const hasSucceeded = event.kind === "settled" && event.outcome === "success";
      if (hasSucceeded || isUnanswered(runs, event)) ended.add(String(event.messageId));
    },
    ...otherwise,
  };
  watched.startedAtMs ||= Date.now();
  const { running } = await consumeFrom({ ...system, options }, async ({ id, attempt }) => {
    const run: FaultedRun = { id, attempt, atMs: Date.now(), endedAtMs: null, outcome: "success" };
    runs.push(run);
    await sleep((0.5 + Math.random()) * stage.handlingMs);
    const outcome = stage.isOutage ? "transient" : fates(id, attempt);
    Object.assign(run, { outcome, endedAtMs: Date.now() });
    if (outcome !== "success") failed.add(`${id} ${attempt}`);
    if (outcome === "transient") throw new Error("again");
    if (outcome === "permanent") throw permanent(permanentReason);
  });
  watched.running = running;
}

function noteMoment(watched: Watched): void {
  const { running, links, moments, failed, isFinishing } = watched;
  if (running === null || isFinishing) return;
  const { state, isTaking, handling, waiting } = running.health();
  const nodes = links.flatMap((link, node) => (link.connections() > 0 ? [node] : []));
  const isFullOfFailures = failed.size >= concurrency;
  moments.push({ atMs: Date.now(), state, isTaking, nodes, isFullOfFailures });
  watched.heldAtMost = Math.max(watched.heldAtMost, handling + waiting);
  // The frames are numerous, and no test reads them.
  for (const link of links) link.frames.length = 0;
}

/** Records the broker's count, from the first node that answers. */
async function noteUnsettled({ cluster, watched }: Stage): Promise<void> {
  const listings = cluster.nodes.map(({ broker }) => createManagement(broker.managementUrl).queues());
  const queues = await Promise.any(listings).catch(() => []);
  for (const each of watched.filter(({ isFinishing }) => !isFinishing)) {
    const queue = queues.find(({ name, vhost }) => name === "shop.billing" && vhost === each.system.vhost);
    each.unsettledAtMost = Math.max(each.unsettledAtMost, queue?.messages_unacknowledged ?? 0);
  }
}

/** Each consumer has begun a handler since then, or has had the time to. */
async function haveGoneOn({ watched }: Stage): Promise<void> {
  const sinceMs = Date.now();
  const isOver = (): boolean =>
    watched.every(({ runs, ended, ids }) => ended.size === ids.length || (runs.at(-1)?.atMs ?? 0) > sinceMs);
  await until(goOnWithinMs, isOver).catch(() => undefined);
  await sleep(3_000);
}

async function finish(stage: Stage): Promise<readonly CourseRecord[]> {
  stage.handlingMs = 0;
  stage.drainedFromMs = Date.now();
  return Promise.all(stage.watched.map((watched) => finishOne(stage, watched)));
}

async function finishOne(stage: Stage, watched: Watched): Promise<CourseRecord> {
  const { strategy, system, ids, ended, events, runs } = watched;
  const leftAfterFaults = ids.length - ended.size;
  const begun = new Set<string>();
  let counted = 0;
  const allHaveBegun = (): boolean => {
    for (; counted < runs.length; counted++) begun.add(runs[counted]?.id ?? "");
    return begun.size === ids.length;
  };
  await until(goOnWithinMs + ids.length * 10, allHaveBegun).catch(() => undefined);
  const endedAtMs = Date.now();
  watched.isFinishing = true;
  await watched.running?.stop("10s");
  const moments = momentsOf(stage, watched);
  // It meets no fault and pauses for nothing, so that all messages reach their end.
  await start(stage, watched, { breaker: false, concurrency: 5 * concurrency, connection: { url: system.url } });
  const letters: GetMessage[] = [];
  const haveEnded = (dead: ReadonlySet<string>): boolean => ids.every((id) => ended.has(id) || dead.has(id));
  const unfinished = await takeLetters(system, letters, haveEnded, drainWithinMs).then(
    () => null,
    async (error: Error) => ({ error: error.message, queues: await queuesAsTheyAre(stage, watched) }),
  );
  const contract = system.contract("billing");
  const judged = judgeFaulted({
    ...watched,
    moments,
    endedAtMs,
    letters: letters.map((letter) => ({
      id: idOf(letter),
      reason: describeDeadLetter(letter, contract)["dlq-failure-reason"],
    })),
  });
  // Messages that the broker has lost keep the course from its end. A message that is stuck would be in a queue.
  const isEmpty = (queue: JsonObject): boolean =>
    Object.values(queue).every((each) => typeof each !== "number" || each === 0);
  const isOver = unfinished?.queues.every(isEmpty) === true && judged.lost.length === 0;
  const times = (...kinds: readonly string[]): number =>
    events.filter(({ event }) => kinds.includes(event.kind)).length;
  const leadersLost = stage.played.reduce((sum, { name }) => sum + faults[name].leadersLost, 0);
  // The messages that may double. Some were in hand when a connection or a leader was lost, or when the consumer
  // stopped on a silent link. Others are copies without an answer, and dead letters on their way.
  const inHand = concurrency * (times("lost") + leadersLost + 1);
  const faultAt = ({ fromMs, toMs }: Stall) =>
    fromMs > (stage.drainedFromMs ?? Infinity)
      ? "drain"
      : (stage.played.findLast((fault) => fault.atMs < toMs)?.name ?? null);
  return {
    ...judged,
    strategy,
    confirmed: ids.length,
    leftAfterFaults,
    mostDoubled: times("settle-failed", "settle-dropped") + inHand + leadersLost * mostDeadLettersDoubled(system),
    heldAtMost: watched.heldAtMost,
    unsettledAtMost: watched.unsettledAtMost,
    mostUnsettled: concurrency * (1 + times("lost") + leadersLost),
    pauses: times("paused"),
    connectionsLost: times("lost"),
    stalledBy: faultAt(judged.stall),
    unexcusedBy: faultAt(judged.unexcused),
    mostLostByBroker: leadersLost === 0 ? 0 : mostLostByBroker(strategy),
    unfinished: unfinished === null || isOver ? null : JSON.stringify(unfinished),
  };
}

/** A message that is not in the dead queue may still be in another one. The queues' counts tell a stuck one from a lost one. */
async function queuesAsTheyAre({ cluster }: Stage, { system }: Watched): Promise<readonly JsonObject[]> {
  const [first] = cluster.nodes;
  const queues = await createManagement(first?.broker.managementUrl ?? "").queues(system.vhost);
  return queues.map((queue) =>
    Object.fromEntries(
      Object.entries(queue).filter(([key]) => key === "name" || key === "leader" || /^messages(_[a-z]+)?$/.test(key)),
    ),
  );
}

/** Adds the broker's service at each moment. */
function momentsOf({ served, played }: Stage, { moments }: Watched): readonly Moment[] {
  return moments.map(({ nodes, isFullOfFailures, ...moment }) => {
    const { atMs } = moment;
    const isAlarm = played.some((each) => faults[each.name].isAlarm && each.atMs <= atMs && atMs <= each.untilMs);
    // A consumer that connects is compared with plain clients that connect.
    const didServe = moment.state === "reconnecting" ? served.didServeNew : served.didServe;
    const serving = [0, 1, 2].filter((node) => didServe(node, atMs));
    // A failure that must become a copy occupies each handler, and the broker accepts no copy.
    const isServedByAny = serving.length > 0 && !(isAlarm && isFullOfFailures);
    // If it has no connection to a node, any serving node counts.
    return { ...moment, isServed: isServedByAny && nodes.every((node) => serving.includes(node)), isServedByAny };
  });
}
