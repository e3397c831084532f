import { noFate } from "./copies.ts";
import { draw } from "./draw.ts";
import { type Instance, offer, takeInstance } from "./instances.ts";
import { append, takeFirst } from "./lines.ts";
import { causeNumbers, placeKinds } from "./message-graph.ts";
import { followAny, isTraced, step } from "./move.ts";
import { type ConsumerRun, type Run, causeAt, timerKinds } from "./run.ts";
import { advanceWindow, countIn } from "./tally.ts";
import { setTimer } from "./timers.ts";

const { success, transient, crash, delivery, return: returned } = causeNumbers;

/** Delivers as long as a message is ready and an instance can take it. */
export function dispatch(run: Run, consumer: ConsumerRun): void {
  if (isStopped(consumer)) return;
  const { instances, ready } = consumer;
  const { next } = run.copies;
  while (consumer.returned.first !== -1 || ready.first !== -1) {
    const instance = takeInstance(instances);
    if (instance === null) return;
    deliver(run, consumer, takeFirst(consumer.returned.first === -1 ? ready : consumer.returned, next), instance);
    offer(instances, instance);
  }
}

function deliver(run: Run, consumer: ConsumerRun, slot: number, instance: Instance): void {
  const { copies } = run;
  const { tally } = consumer;
  const deliveries = (copies.deliveries[slot] as number) + 1;
  copies.deliveries[slot] = deliveries;
  tally.deliveries++;
  if (deliveries > 1) {
    advanceWindow(tally, run.atUs);
    tally.windowRedeliveries++;
  }
  if (deliveries > run.mostDeliveries) {
    run.mostDeliveries = deliveries;
    run.mostConsumer = consumer.index;
    run.mostMessage = copies.messages[slot] as number;
  }
  followAny(run, consumer, slot, delivery);
  if (consumer.graph.kinds[copies.nodes[slot] as number] !== placeKinds.handling) return;
  copies.instances[slot] = instance.number;
  instance.held.add(slot);
  if (instance.begun < consumer.scenario.concurrency) begin(run, consumer, slot, instance);
  else append(instance.waiting, copies.next, slot);
}

/** A handler begins with a message. Its end is decided now, because an outage fails the handlings that begin in it. */
function begin(run: Run, consumer: ConsumerRun, slot: number, instance: Instance): void {
  const { copies } = run;
  const { handlingTime, phases } = consumer.scenario;
  const message = copies.messages[slot] as number;
  const position = copies.draws[slot] as number;
  const outage = phases[consumer.phase]?.outage ?? null;
  const fate = copies.fates[slot] as number;
  copies.draws[slot] = position + 2;
  copies.runs[slot] = (copies.runs[slot] as number) + 1;
  copies.beganAtUs[slot] = run.atUs;
  instance.begun++;
  consumer.tally.runs++;
  const share = draw(consumer.key, message, position);
  const tookMs = outage?.failsAfterMs ?? handlingTime.fromMs + share * (handlingTime.toMs - handlingTime.fromMs);
  if (outage !== null) copies.outcomes[slot] = outage.outcome === "crash" ? crash : transient;
  else if (fate !== noFate) copies.outcomes[slot] = fate;
  else {
    const drawn = causeAt(consumer.endings, draw(consumer.key, message, position + 1));
    copies.outcomes[slot] = drawn === -1 ? success : drawn;
  }
  copies.timers[slot] = setTimer(run.timers, run.atUs + Math.round(tookMs * 1_000), timerKinds.copy, slot);
  if (isTraced(run, consumer, slot)) {
    const node = copies.nodes[slot] as number;
    step(run, consumer, slot, "begun", node, consumer.graph.attempts[node] as number);
  }
}

/**
 * A handler ends, with success or failure. The consumer acts as its contract says, and begins with the next message.
 */
export function settle(run: Run, consumer: ConsumerRun, slot: number, instance: Instance): void {
  const outcome = run.copies.outcomes[slot] as number;
  countIn(consumer.tally.outcomes, outcome);
  leaveInstance(run, consumer, slot, instance);
  followAny(run, consumer, slot, outcome);
  // An instance that is being stopped begins no further message.
  const next = takeFirst(instance.waiting, run.copies.next);
  if (next !== -1) begin(run, consumer, next, instance);
  offer(consumer.instances, instance);
}

/** An instance crashes. All its messages go back to the broker, begun or not. */
export function crashInstance(run: Run, consumer: ConsumerRun, instance: Instance): void {
  const { copies, timers } = run;
  const { tally, scenario } = consumer;
  tally.crashes++;
  countIn(tally.outcomes, crash);
  instance.isAway = true;
  while (takeFirst(instance.waiting, copies.next) !== -1);
  for (const slot of instance.held) {
    copies.timers[slot] = -1;
    leaveInstance(run, consumer, slot, instance);
    followAny(run, consumer, slot, crash);
  }
  setTimer(timers, run.atUs + scenario.restartMs * 1_000, timerKinds.restart, instance.number);
}

function leaveInstance(run: Run, { tally }: ConsumerRun, slot: number, instance: Instance): void {
  const { copies, atUs, durationUs } = run;
  const beganAtUs = copies.beganAtUs[slot] as number;
  instance.held.delete(slot);
  copies.instances[slot] = -1;
  if (beganAtUs === -1) return;
  copies.beganAtUs[slot] = -1;
  instance.begun--;
  tally.busyUs += Math.max(0, Math.min(atUs, durationUs) - beganAtUs);
}

/** True if the instances of a consumer take no messages at the moment. */
export function isStopped({ scenario, phase }: ConsumerRun): boolean {
  return scenario.phases[phase]?.isStopped === true;
}

/** At a stop, delivered messages without a handler go back to the broker. Begun handlings continue to their end. */
export function returnUnbegun(run: Run, consumer: ConsumerRun): void {
  const { next } = run.copies;
  for (const instance of consumer.instances.all) {
    for (let slot = takeFirst(instance.waiting, next); slot !== -1; slot = takeFirst(instance.waiting, next)) {
      leaveInstance(run, consumer, slot, instance);
      followAny(run, consumer, slot, returned);
    }
  }
}

export function restart(run: Run, instance: Instance): void {
  const consumer = run.consumers[instance.consumer] as ConsumerRun;
  run.events++;
  instance.isAway = false;
  offer(consumer.instances, instance);
  dispatch(run, consumer);
}
