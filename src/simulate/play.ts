import { addCopy, addTwin, noFate } from "./copies.ts";
import { advanceDepths } from "./depths.ts";
import { draw } from "./draw.ts";
import { crashInstance, dispatch, isStopped, restart, returnUnbegun, settle } from "./handle.ts";
import type { Instance } from "./instances.ts";
import { causeNumbers } from "./message-graph.ts";
import { enter, follow, isTraced, step } from "./move.ts";
import { type ConsumerRun, type Run, causeAt, positions, setArrivalTimer, setPhaseTimer, timerKinds } from "./run.ts";
import { advanceWindow } from "./tally.ts";
import { removeFirst } from "./timers.ts";

const { crash, time } = causeNumbers;

/**
 * Plays the next event.
 *
 * @returns true if there was one, within the time limit of the run
 */
export function playNext(run: Run): boolean {
  const { timers } = run;
  if (timers.size === 0 || (run.copies.live === 0 && run.arriving === 0)) return false;
  const atUs = timers.atUs[0] as number;
  const endUs = run.durationUs + run.scenario.drainMs * 1_000;
  if (atUs > endUs) {
    run.atUs = endUs;
    advanceDepths(run.depths, endUs);
    return false;
  }
  const number = timers.numbers[0] as number;
  const kind = timers.kinds[0] as number;
  const subject = timers.subjects[0] as number;
  removeFirst(timers);
  run.atUs = atUs;
  advanceDepths(run.depths, atUs);
  if (kind === timerKinds.copy) copyIsDue(run, subject, number);
  else if (kind === timerKinds.arrival) arrive(run, run.consumers[subject] as ConsumerRun);
  else if (kind === timerKinds.phase) changePhase(run, run.consumers[subject] as ConsumerRun);
  else restart(run, run.instances[subject] as Instance);
  return true;
}

/** A handling ends, or a wait. */
function copyIsDue(run: Run, slot: number, number: number): void {
  const { copies } = run;
  // The instance that handled it may have crashed, and the slot may belong to another copy now.
  if (copies.timers[slot] !== number) return;
  copies.timers[slot] = -1;
  const consumer = run.consumers[copies.consumers[slot] as number] as ConsumerRun;
  const instance = run.instances[copies.instances[slot] as number];
  if (instance === undefined) follow(run, consumer, slot, copies.alternatives[slot] as number, time);
  else if (copies.outcomes[slot] === crash) crashInstance(run, consumer, instance);
  else settle(run, consumer, slot, instance);
  dispatch(run, consumer);
}

function arrive(run: Run, consumer: ConsumerRun): void {
  const { copies } = run;
  const { graph, key, tally } = consumer;
  const message = consumer.messages++;
  const choice = Math.floor(draw(key, message, positions.start) * graph.starts.length);
  const fate = causeAt(consumer.poison, draw(key, message, positions.poison));
  run.events++;
  run.arriving--;
  tally.published++;
  advanceWindow(tally, run.atUs);
  tally.windowArrivals++;
  let first = -1;
  for (const node of graph.starts[choice] as readonly number[]) {
    const slot = first === -1 ? addCopy(copies, consumer.index, message, run.atUs) : addTwin(copies, first);
    if (first === -1) {
      first = slot;
      copies.draws[slot] = positions.first;
      copies.fates[slot] = fate === -1 ? noFate : fate;
    } else tally.duplicated++;
    if (isTraced(run, consumer, slot)) {
      run.trace.live++;
      step(run, consumer, slot, "published", node, null);
    }
    enter(run, consumer, slot, node, -1);
  }
  setArrivalTimer(run, consumer);
  dispatch(run, consumer);
}

function changePhase(run: Run, consumer: ConsumerRun): void {
  consumer.phase++;
  run.events++;
  setPhaseTimer(run, consumer);
  if (isStopped(consumer)) returnUnbegun(run, consumer);
  else dispatch(run, consumer);
}
