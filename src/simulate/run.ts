import { nextArrivalUs } from "./arrivals.ts";
import type { Copies } from "./copies.ts";
import { createCopies } from "./copies.ts";
import type { Depths } from "./depths.ts";
import { createDepths } from "./depths.ts";
import { draw, drawBits } from "./draw.ts";
import type { Instances } from "./instances.ts";
import { createInstances } from "./instances.ts";
import type { Lines } from "./lines.ts";
import { createLines } from "./lines.ts";
import type { MessageGraph } from "./message-graph.ts";
import { causeNumbers } from "./message-graph.ts";
import type { TimelineStep } from "./result.ts";
import type { ConsumerScenario, Ending, Scenario } from "./scenario.ts";
import type { Tally } from "./tally.ts";
import { createTally } from "./tally.ts";
import type { Timers } from "./timers.ts";
import { createTimers, setTimer } from "./timers.ts";

/** Everything that changes while a simulation runs. It lives inside of `simulate` and nobody else sees it. */
export interface Run {
  readonly scenario: Scenario;
  readonly durationUs: number;
  readonly consumers: readonly ConsumerRun[];
  readonly copies: Copies;
  readonly timers: Timers;
  readonly instances: Instances;
  readonly depths: Depths;
  /** Per consumer the messages that are ready in its work queue; those that came back without a wait go first. */
  readonly ready: Lines;
  readonly returned: Lines;
  atUs: number;
  events: number;
  /** How many consumers have messages yet to arrive. */
  arriving: number;
  /** The message with the most deliveries until now, the first of them. */
  mostDeliveries: number;
  mostConsumer: number;
  mostMessage: number;
  readonly trace: Trace;
}

/** One consumer in a run. */
export interface ConsumerRun {
  readonly index: number;
  readonly scenario: ConsumerScenario;
  readonly graph: MessageGraph;
  /** The number of each of the graph's queues among all queues. */
  readonly queues: Int32Array;
  /** Which random numbers are its own. */
  readonly key: number;
  /** The endings other than success, each with the share of all handlings up to and including it. */
  readonly endings: Shares;
  readonly poison: Shares;
  readonly tally: Tally;
  phase: number;
  /** How many messages were published, and when the next one is: not rounded, so that a rate is kept exactly. */
  messages: number;
  nextAtUs: number;
}

interface Shares {
  readonly causes: readonly number[];
  readonly upTo: readonly number[];
}

/** Whose steps are written down: those of one message, of all (for tests), or of none. */
export interface Trace {
  readonly wanted: { readonly consumer: number; readonly message: number } | "all" | "none";
  readonly steps: TimelineStep[];
  /** How many copies the one message has at the moment. */
  live: number;
}

/** What can be due. */
export const timerKinds = Object.freeze({ copy: 0, arrival: 1, phase: 2, restart: 3 });

/** The positions in a message's row of random numbers that have a meaning of their own; the rest are used one by one. */
export const positions = Object.freeze({ gap: 0, start: 1, poison: 2, first: 3 });

const endings: readonly Ending[] = ["transient", "retry-after", "permanent", "crash", "return"];

export function createRun(graphs: readonly MessageGraph[], scenario: Scenario, wanted: Trace["wanted"]): Run {
  const queues = [...new Set(graphs.flatMap((graph) => graph.queues))];
  const queueNumbers = new Map(queues.map((queue, index) => [queue, index]));
  const durationUs = scenario.durationMs * 1_000;
  const run: Run = {
    scenario,
    durationUs,
    consumers: graphs.map((graph, index) => {
      const consumer = scenario.consumers[index] as ConsumerScenario;
      const key = drawBits(scenario.seed, index, 0);
      return {
        index,
        scenario: consumer,
        graph,
        queues: Int32Array.from(graph.queues, (queue) => queueNumbers.get(queue) as number),
        key,
        endings: sharesOf(consumer.outcomes),
        poison: sharesOf(consumer.poison),
        tally: createTally(key),
        phase: 0,
        messages: 0,
        nextAtUs: 0,
      };
    }),
    copies: createCopies(),
    timers: createTimers(),
    instances: createInstances(scenario.consumers),
    depths: createDepths(queues, durationUs),
    ready: createLines(graphs.length),
    returned: createLines(graphs.length),
    atUs: 0,
    events: 0,
    arriving: 0,
    mostDeliveries: 0,
    mostConsumer: -1,
    mostMessage: -1,
    trace: { wanted, steps: [], live: 0 },
  };
  for (const consumer of run.consumers) {
    setPhaseTimer(run, consumer);
    setArrivalTimer(run, consumer);
  }
  return run;
}

function sharesOf(shares: ConsumerScenario["outcomes"]): Shares {
  let sum = 0;
  return {
    causes: endings.map((ending) => causeNumbers[ending]),
    upTo: endings.map((ending) => (sum += shares[ending])),
  };
}

/** The cause that a random number from 0 to 1 stands for; −1 for the rest of the shares. */
export function causeAt({ causes, upTo }: Shares, share: number): number {
  for (let index = 0; index < upTo.length; index++) if (share < (upTo[index] as number)) return causes[index] as number;
  return -1;
}

/** Sets the timer of a consumer's next message. */
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

/** Sets the timer of the next change in a consumer's phases. */
export function setPhaseTimer(run: Run, { index, phase, scenario }: ConsumerRun): void {
  const next = scenario.phases[phase + 1];
  if (next !== undefined) setTimer(run.timers, next.fromMs * 1_000, timerKinds.phase, index);
}
