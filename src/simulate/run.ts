import { nextArrivalUs } from "./arrivals.ts";
import { createCopies } from "./copies.ts";
import { createDepths } from "./depths.ts";
import { draw, drawBits } from "./draw.ts";
import { createInstances } from "./instances.ts";
import { createLine } from "./lines.ts";
import { type MessageGraph, causeNumbers, startsOf } from "./message-graph.ts";
import type { TimelineStep } from "./result.ts";
import type { ConsumerScenario, Ending, Scenario } from "./scenario.ts";
import { createTally } from "./tally.ts";
import { createTimers, setTimer } from "./timers.ts";

/** The state of a running simulation. It stays inside `simulate`. */
export type Run = ReturnType<typeof emptyRun>;

export type ConsumerRun = ReturnType<typeof consumerRun>;

type Shares = ReturnType<typeof sharesOf>;

/** The messages with recorded steps: one message, all (for tests), or none. */
export interface Trace {
  readonly wanted: { readonly consumer: number; readonly message: number } | "all" | "none";
  readonly steps: TimelineStep[];
  /** The number of live copies of the one message. */
  live: number;
}

export const timerKinds = Object.freeze({ copy: 0, arrival: 1, phase: 2, restart: 3 });

/**
 * The positions in a message's row of random numbers that have a meaning of their own. The rest are used one by one.
 */
export const positions = Object.freeze({ gap: 0, start: 1, poison: 2, first: 3 });

const endings: readonly Ending[] = ["transient", "retry-after", "permanent", "crash", "return"];

export function createRun(graphs: readonly MessageGraph[], scenario: Scenario, wanted: Trace["wanted"]): Run {
  const run = emptyRun(graphs, scenario, wanted);
  for (const consumer of run.consumers) {
    setPhaseTimer(run, consumer);
    setArrivalTimer(run, consumer);
  }
  return run;
}

function emptyRun(graphs: readonly MessageGraph[], scenario: Scenario, wanted: Trace["wanted"]) {
  const queues = [...new Set(graphs.flatMap((graph) => graph.queues))];
  const queueNumbers = new Map(queues.map((queue, index) => [queue, index]));
  const durationUs = scenario.durationMs * 1_000;
  const trace: Trace = { wanted, steps: [], live: 0 };
  const firstInstances = startsOf(scenario.consumers.map(({ instances }) => instances));
  const consumers = graphs.map((graph, index) =>
    consumerRun(graph, index, firstInstances[index] as number, scenario, queueNumbers),
  );
  return {
    scenario,
    durationUs,
    consumers,
    copies: createCopies(),
    timers: createTimers(),
    /** Those of all consumers. */
    instances: consumers.flatMap(({ instances }) => instances.all),
    depths: createDepths(queues, durationUs),
    atUs: 0,
    events: 0,
    /** The number of consumers that still expect messages. */
    arriving: 0,
    /** The most deliveries of one message until now, and the first message that had them. */
    mostDeliveries: 0,
    mostConsumer: -1,
    mostMessage: -1,
    trace,
  };
}

function consumerRun(
  graph: MessageGraph,
  index: number,
  firstInstance: number,
  { seed, consumers }: Scenario,
  queueNumbers: ReadonlyMap<string, number>,
) {
  const scenario = consumers[index] as ConsumerScenario;
  const key = drawBits(seed, index, 0);
  return {
    index,
    scenario,
    graph,
    /** For each queue of the graph, its number among all queues. */
    queues: Int32Array.from(graph.queues, (queue) => queueNumbers.get(queue) as number),
    /** The key of its random numbers. */
    key,
    /** The endings other than success, each with the share of all handlings up to and including it. */
    endings: sharesOf(scenario.outcomes),
    poison: sharesOf(scenario.poison),
    tally: createTally(key),
    instances: createInstances(index, firstInstance, scenario),
    /** The ready messages of its work queue. Messages that came back without a wait go first. */
    ready: createLine(),
    returned: createLine(),
    phase: 0,
    /** The number of published messages, and the time of the next one. It is not rounded, so the rate stays exact. */
    messages: 0,
    nextAtUs: 0,
  };
}

function sharesOf(shares: ConsumerScenario["outcomes"]) {
  let sum = 0;
  return {
    causes: endings.map((ending) => causeNumbers[ending]),
    upTo: endings.map((ending) => (sum += shares[ending])),
  };
}

/** The cause for a random number from 0 to 1; −1 for the rest of the shares. */
export function causeAt({ causes, upTo }: Shares, share: number): number {
  for (let index = 0; index < upTo.length; index++) if (share < (upTo[index] as number)) return causes[index] as number;
  return -1;
}

export function setArrivalTimer(run: Run, consumer: ConsumerRun): void {
  const { spacing } = consumer.scenario.arrivals;
  const share = draw(consumer.key, consumer.messages, positions.gap);
  const gap = spacing === "random" ? -Math.log(1 - share) : consumer.messages === 0 ? 0 : 1;
  const atUs = nextArrivalUs(consumer.scenario, run.durationUs, consumer.nextAtUs, consumer.phase, gap);
  if (atUs === Number.POSITIVE_INFINITY) return;
  consumer.nextAtUs = atUs;
  run.arriving++;
  setTimer(run.timers, Math.round(atUs), timerKinds.arrival, consumer.index);
}

export function setPhaseTimer(run: Run, { index, phase, scenario }: ConsumerRun): void {
  const next = scenario.phases[phase + 1];
  if (next !== undefined) setTimer(run.timers, next.fromMs * 1_000, timerKinds.phase, index);
}
