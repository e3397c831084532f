import { addTwin, removeCopy } from "./copies.ts";
import { addToQueue, takeFromQueue } from "./depths.ts";
import { draw } from "./draw.ts";
import { append } from "./lines.ts";
import { keptCauses } from "../explore/model.ts";
import { causeNumbers, placeKinds } from "./message-graph.ts";
import type { TimelineStep } from "./result.ts";
import { type ConsumerRun, type Run, timerKinds } from "./run.ts";
import { addSample } from "./samples.ts";
import { countIn } from "./tally.ts";
import { setTimer } from "./timers.ts";

const { success, crash, return: returned, delivery, time } = causeNumbers;
const { work, handling, waiting, dead } = placeKinds;

/** Takes one possible end of a cause, by chance if there are several. */
export function followAny(run: Run, consumer: ConsumerRun, slot: number, cause: number): void {
  follow(run, consumer, slot, chooseAlternative(run, consumer, slot, run.copies.nodes[slot] as number, cause), cause);
}

/** Takes one end of a move: the copy enters its next state, starts further copies, or ends. */
export function follow(run: Run, consumer: ConsumerRun, slot: number, alternative: number, cause: number): void {
  const { copies, depths } = run;
  const { graph, tally } = consumer;
  const node = copies.nodes[slot] as number;
  const from = graph.targets[alternative] as number;
  const end = graph.targets[alternative + 1] as number;
  run.events++;
  takeFromQueue(depths, consumer.queues[graph.places[node] as number] as number);
  if (isTraced(run, consumer, slot)) {
    const attempt = cause < delivery ? (graph.attempts[node] as number) : null;
    step(
      run,
      consumer,
      slot,
      keptCauses[cause] as TimelineStep["happened"],
      from === end ? -1 : (graph.nodes[from] as number),
      attempt,
    );
  }
  if (from === end) {
    if (cause === success) {
      tally.succeeded++;
      addSample(tally.toSuccess, run.atUs - (copies.publishedAtUs[slot] as number));
    } else tally.lost++;
    finish(run, consumer, slot);
    return;
  }
  for (let index = from + 1; index < end; index++) {
    const twin = addTwin(copies, slot);
    tally.duplicated++;
    if (isTraced(run, consumer, twin)) run.trace.live++;
    enter(run, consumer, twin, graph.nodes[index] as number, cause, node);
  }
  enter(run, consumer, slot, graph.nodes[from] as number, cause, node);
}

function chooseAlternative({ copies }: Run, consumer: ConsumerRun, slot: number, node: number, cause: number): number {
  const { alternatives } = consumer.graph;
  const from = alternatives[node * keptCauses.length + cause] as number;
  const count = (alternatives[node * keptCauses.length + cause + 1] as number) - from;
  if (count === 1) return from;
  if (count === 0)
    throw new Error(
      `the model does not know ${String(keptCauses[cause])} in state ${node} of ${consumer.graph.consumer}`,
    );
  const position = copies.draws[slot] as number;
  copies.draws[slot] = position + 1;
  return from + Math.floor(draw(consumer.key, copies.messages[slot] as number, position) * count);
}

export function enter(
  run: Run,
  consumer: ConsumerRun,
  slot: number,
  node: number,
  cause: number,
  before: number = -1,
): void {
  const { copies } = run;
  const { graph, tally } = consumer;
  const kind = graph.kinds[node] as number;
  const place = graph.places[node] as number;
  copies.nodes[slot] = node;
  if (place !== -1) addToQueue(run.depths, consumer.queues[place] as number, run.atUs);
  if (kind === handling) return;
  if (kind === work) {
    // A copy that comes back without a wait is at the head of its queue again.
    append(cause === crash || cause === returned ? consumer.returned : consumer.ready, copies.next, slot);
  } else if (kind === waiting) waitInState(run, consumer, slot, node);
  else if (kind === dead) {
    countIn(tally.deadByCause, cause);
    countIn(tally.deadByAttempt, before === -1 ? 0 : (graph.attempts[before] as number));
    addSample(tally.toDeadLetter, run.atUs - (copies.publishedAtUs[slot] as number));
    finish(run, consumer, slot);
  } else {
    tally.lost++;
    finish(run, consumer, slot);
  }
}

/** Decides now the length of the wait and its end. */
function waitInState(run: Run, consumer: ConsumerRun, slot: number, node: number): void {
  const { copies } = run;
  const { graph } = consumer;
  const alternative = chooseAlternative(run, consumer, slot, node, time);
  const waitedUs = graph.waitedUs[alternative] as number;
  const spreadUs = (graph.waitedLatestUs[alternative] as number) - waitedUs;
  let jitterUs = 0;
  if (spreadUs > 0) {
    const position = copies.draws[slot] as number;
    copies.draws[slot] = position + 1;
    jitterUs = Math.round(draw(consumer.key, copies.messages[slot] as number, position) * spreadUs);
  }
  copies.alternatives[slot] = alternative;
  copies.timers[slot] = setTimer(run.timers, run.atUs + waitedUs + jitterUs, timerKinds.copy, slot);
}

function finish(run: Run, consumer: ConsumerRun, slot: number): void {
  const { copies, trace } = run;
  countIn(consumer.tally.byDeliveries, copies.deliveries[slot] as number);
  countIn(consumer.tally.byRuns, copies.runs[slot] as number);
  if (isTraced(run, consumer, slot)) trace.live--;
  removeCopy(copies, slot);
}

export function isTraced({ trace: { wanted }, copies }: Run, consumer: ConsumerRun, slot: number): boolean {
  if (wanted === "none") return false;
  return wanted === "all" || (wanted.consumer === consumer.index && wanted.message === copies.messages[slot]);
}

/** Records a step. `node` is the state after it, −1 for none. */
export function step(
  run: Run,
  { graph }: ConsumerRun,
  slot: number,
  happened: TimelineStep["happened"],
  node: number,
  attempt: number | null,
): void {
  run.trace.steps.push({
    message: run.copies.messages[slot] as number,
    consumer: graph.consumer,
    atMs: run.atUs / 1_000,
    happened,
    queue: graph.queues[graph.places[node] ?? -1] ?? null,
    attempt,
  });
}
