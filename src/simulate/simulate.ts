import type { Subject } from "../explore/model.ts";
import { depthsOf } from "./depths.ts";
import { type MessageGraph, messageGraphOf, placeKinds } from "./message-graph.ts";
import { playNext } from "./play.ts";
import type { ConsumerResult, SimulationResult, Timeline, TimelineStep } from "./result.ts";
import { type Run, type Trace, createRun } from "./run.ts";
import type { Scenario } from "./scenario.ts";
import { consumerResultOf } from "./tally.ts";

export interface Progress {
  /** The first run plays the scenario. A second run replays it up to the end of one message, for that message's timeline. */
  readonly part: "scenario" | "timeline";
  /** The time in the simulation, and the number of events until then. */
  readonly atMs: number;
  readonly events: number;
}
type Report = (progress: Progress) => void;

/** The number of events between two reports: a fraction of a second. */
const eventsPerReport = 100_000;

/**
 * Plays a scenario: messages arrive, instances of consumers handle them, and the broker acts as its proved model says.
 * The clock jumps from one event to the next. The simulation knows the broker only through the model of the proof, so
 * it cannot show anything that a proof excludes.
 *
 * @param subjects the consumers with a work queue, in the scenario's order
 * @param report receives the progress now and then
 * @returns the result. The same arguments give the same bytes
 * @throws RefusedError (RD505) if a consumer has too many pairs of attempts and crash deliveries to explore
 */
export function simulate<State>(
  subjects: readonly Subject<State>[],
  scenario: Scenario,
  report: Report = () => {},
): SimulationResult {
  const graphs = subjects.map(({ model }) => messageGraphOf(model()));
  const run = playAll(graphs, scenario, "none", report);
  return {
    seed: scenario.seed,
    durationMs: scenario.durationMs,
    endedAtMs: run.atUs / 1_000,
    isSettled: run.copies.live === 0,
    events: run.events,
    consumers: run.consumers.map(({ index, scenario: consumer, tally }) =>
      consumerResultOf(tally, consumer, scenario.durationMs, leftOf(run, index)),
    ),
    stretchMs: run.depths.stretchUs / 1_000,
    queues: depthsOf(run.depths),
    timeline: run.mostDeliveries === 0 ? null : timelineOf(graphs, scenario, run, report),
  };
}

/** Every step of every message, in order. Tests check a result against it. */
export function simulateSteps<State>(subjects: readonly Subject<State>[], scenario: Scenario): readonly TimelineStep[] {
  const graphs = subjects.map(({ model }) => messageGraphOf(model()));
  return playAll(graphs, scenario, "all", () => {}).trace.steps;
}

/**
 * The message with the most deliveries is known only at the end. So a second run, with the same numbers, records its
 * steps.
 */
function timelineOf(graphs: readonly MessageGraph[], scenario: Scenario, run: Run, report: Report): Timeline {
  const wanted = { consumer: run.mostConsumer, message: run.mostMessage };
  const { trace } = playAll(graphs, scenario, wanted, report);
  return { consumer: graphs[wanted.consumer]?.consumer ?? "", message: wanted.message, steps: trace.steps };
}

function playAll(graphs: readonly MessageGraph[], scenario: Scenario, wanted: Trace["wanted"], report: Report): Run {
  const run = createRun(graphs, scenario, wanted);
  const isForOne = typeof wanted === "object";
  let nextReport = eventsPerReport;
  while (playNext(run)) {
    if (run.events >= nextReport) {
      report({ part: isForOne ? "timeline" : "scenario", atMs: run.atUs / 1_000, events: run.events });
      nextReport = run.events + eventsPerReport;
    }
    if (isForOne && run.trace.live === 0 && run.trace.steps.length > 0) break;
  }
  return run;
}

function leftOf({ copies, consumers }: Run, consumer: number): ConsumerResult["left"] {
  const left = { inWorkQueue: 0, withHandlers: 0, waiting: 0 };
  if (copies.live === 0) return left;
  const kinds = consumers[consumer]?.graph.kinds;
  for (let slot = 0; slot < copies.used; slot++) {
    if (copies.nodes[slot] === -1 || copies.consumers[slot] !== consumer) continue;
    const kind = kinds?.[copies.nodes[slot] as number];
    if (kind === placeKinds.work) left.inWorkQueue++;
    else if (kind === placeKinds.handling) left.withHandlers++;
    else left.waiting++;
  }
  return left;
}
