import { noFate } from "./copies.ts";
import { draw } from "./draw.ts";
import { hold, offer, release, takeInstance } from "./instances.ts";
import { append, takeFirst } from "./lines.ts";
import { causeNumbers, placeKinds } from "./message-graph.ts";
import { followAny, isTraced, step } from "./move.ts";
import { type ConsumerRun, type Run, causeAt, timerKinds } from "./run.ts";
import { advanceWindow } from "./tally.ts";
import { setTimer } from "./timers.ts";

const { success, transient, crash, delivery, return: returned } = causeNumbers;

/** Delivers as long as a message is ready and an instance can take it. */
export function dispatch(run: Run, consumer: ConsumerRun): void {
  if (isStopped(consumer)) return;
  const { copies, instances, ready } = run;
  const { index } = consumer;
  while ((run.returned.first[index] as number) !== -1 || (ready.first[index] as number) !== -1) {
    const instance = takeInstance(instances, index);
    if (instance === -1) return;
    const early = takeFirst(run.returned, index, copies.next);
    const slot = early === -1 ? takeFirst(ready, index, copies.next) : early;
    deliver(run, consumer, slot, instance);
    offer(instances, instance);
  }
}

function deliver(run: Run, consumer: ConsumerRun, slot: number, instance: number): void {
  const { copies, instances } = run;
  const { tally } = consumer;
  const deliveries = (copies.deliveries[slot] as number) + 1;
  copies.deliveries[slot] = deliveries;
  copies.deliveredAs[slot] = ++tally.deliveries;
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
  copies.instances[slot] = instance;
  hold(instances, instance, slot, copies.positions);
  if ((instances.begun[instance] as number) < (instances.concurrency[instance] as number)) begin(run, consumer, slot);
  else append(instances.waiting, instance, copies.next, slot);
}

/** A handler begins with a message. Its end is decided now, because an outage fails the handlings that begin in it. */
function begin(run: Run, consumer: ConsumerRun, slot: number): void {
  const { copies, instances } = run;
  const { handlingTime, phases } = consumer.scenario;
  const message = copies.messages[slot] as number;
  const position = copies.draws[slot] as number;
  const outage = phases[consumer.phase]?.outage ?? null;
  const fate = copies.fates[slot] as number;
  const instance = copies.instances[slot] as number;
  copies.draws[slot] = position + 2;
  copies.runs[slot] = (copies.runs[slot] as number) + 1;
  copies.beganAtUs[slot] = run.atUs;
  instances.begun[instance] = (instances.begun[instance] as number) + 1;
  consumer.tally.runs++;
  const share = draw(consumer.key, message, position);
  const tookMs =
    outage !== null && outage.failsAfterMs !== null
      ? outage.failsAfterMs
      : handlingTime.fromMs + share * (handlingTime.toMs - handlingTime.fromMs);
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
export function settle(run: Run, consumer: ConsumerRun, slot: number, cause: number): void {
  const { copies, instances } = run;
  const instance = copies.instances[slot] as number;
  const { outcomes } = consumer.tally;
  outcomes[cause] = (outcomes[cause] as number) + 1;
  leaveInstance(run, slot);
  followAny(run, consumer, slot, cause);
  // An instance that is being stopped begins no further message.
  const next = takeFirst(instances.waiting, instance, copies.next);
  if (next !== -1) begin(run, consumer, next);
  offer(instances, instance);
}

/** An instance crashes. All its messages go back to the broker, begun or not. `slot` is the message of the crash. */
export function crashInstance(run: Run, consumer: ConsumerRun, slot: number): void {
  const { copies, instances } = run;
  const instance = copies.instances[slot] as number;
  const { tally } = consumer;
  tally.crashes++;
  tally.outcomes[crash] = (tally.outcomes[crash] as number) + 1;
  instances.isAway[instance] = 1;
  while (takeFirst(instances.waiting, instance, copies.next) !== -1);
  const { deliveredAs } = copies;
  const start = instances.firstHeld[instance] as number;
  const held = instances.slots.slice(start, start + (instances.held[instance] as number));
  for (const each of held.sort((one, other) => (deliveredAs[one] as number) - (deliveredAs[other] as number))) {
    copies.timers[each] = -1;
    leaveInstance(run, each);
    followAny(run, consumer, each, crash);
  }
  const restartUs = consumer.scenario.restartMs * 1_000;
  setTimer(run.timers, run.atUs + restartUs, timerKinds.restart, instance);
}

function leaveInstance(run: Run, slot: number): void {
  const { copies, instances } = run;
  const instance = copies.instances[slot] as number;
  const beganAtUs = copies.beganAtUs[slot] as number;
  release(instances, instance, slot, copies.positions);
  copies.instances[slot] = -1;
  if (beganAtUs === -1) return;
  copies.beganAtUs[slot] = -1;
  instances.begun[instance] = (instances.begun[instance] as number) - 1;
  const { tally } = run.consumers[copies.consumers[slot] as number] as ConsumerRun;
  tally.busyUs += Math.max(0, Math.min(run.atUs, run.durationUs) - beganAtUs);
}

/** True if the instances of a consumer take no messages at the moment. */
export function isStopped({ scenario, phase }: ConsumerRun): boolean {
  return scenario.phases[phase]?.isStopped === true;
}

/** At a stop, delivered messages without a handler go back to the broker. Begun handlings continue to their end. */
export function returnUnbegun(run: Run, consumer: ConsumerRun): void {
  const { instances } = run;
  const end = instances.first[consumer.index + 1] as number;
  for (let instance = instances.first[consumer.index] as number; instance < end; instance++) {
    for (;;) {
      const slot = takeFirst(instances.waiting, instance, run.copies.next);
      if (slot === -1) break;
      leaveInstance(run, slot);
      followAny(run, consumer, slot, returned);
    }
  }
}

export function restart(run: Run, instance: number): void {
  const { instances } = run;
  run.events++;
  instances.isAway[instance] = 0;
  offer(instances, instance);
  dispatch(run, run.consumers[instances.consumers[instance] as number] as ConsumerRun);
}
