import { brokerOf } from "../brokers/index.ts";
import { sharesDeadQueue } from "../contract/shared-dead-queue.ts";
import type { Consumer, System } from "../declare/system.ts";
import { type Separator, namesOfQueues } from "../plan/names.ts";
import type { Deployed } from "./deployed.ts";
import { type HeldQueues, otherSettings } from "./held-queues.ts";

/** A key that nothing else has. */
export function freeKey(taken: object, own: string, word = "before"): string {
  const key = `${own}-${word}`;
  return Object.hasOwn(taken, key) ? freeKey(taken, key, word) : key;
}

/** The name with the next free number: `shop.billing.2` after `shop.billing`. A year at the end is no such number. */
export function nextGeneration(name: string, separator: Separator, taken: ReadonlySet<string>): string {
  const [last = "", ...others] = name.split(separator).toReversed();
  const isNumbered = others.length > 0 && /^\d{1,3}$/.test(last);
  const base = isNumbered ? others.toReversed().join(separator) : name;
  const next = `${base}${separator}${isNumbered ? Number(last) + 1 : 2}`;
  return taken.has(next) ? nextGeneration(next, separator, taken) : next;
}

/** The new system, with another queue for each consumer that would else have its old one. */
export function withNewQueues(from: Deployed, to: Deployed, wanted: readonly string[], held: HeldQueues): System {
  const left = Object.entries(held).flatMap(([queue, { deadQueue }]) => [queue, deadQueue ?? []].flat());
  const taken = new Set([...left, ...[...from.parts, ...to.parts].map(({ name }) => name)]);
  const { separator } = brokerOf(from.target);
  const moving = new Set(wanted);
  const consumers = Object.entries(to.system.consumers).map(([consumer, declared]): readonly [string, Consumer] => {
    if (!moving.has(consumer)) return [consumer, declared];
    const old = namesOfQueues(from.system, consumer, separator);
    const [was, would] = [from.contracts.get(consumer), to.contracts.get(consumer)];
    // Its first queue may be there with the arguments of another strategy.
    const isOther = otherSettings(held, would?.workQueue ?? null, to).length > 0;
    const isFree = was?.workQueue !== would?.workQueue && !isOther;
    // A suffix or the broker itself may tell the dead queues apart.
    if (isFree && was?.deadQueue !== would?.deadQueue) return [consumer, declared];
    const { formerly: _, ...rest } = declared;
    const moved = isFree ? declared : { ...rest, queue: nextGeneration(old.work, separator, taken) };
    if (sharesDeadQueue(to.target, moved.deadLetter?.queue)) return [consumer, moved];
    const { dead } = namesOfQueues({ ...to.system, consumers: { [consumer]: moved } }, consumer, separator);
    // The old queue and the new one cannot share a dead queue.
    if (moved.retry === undefined || dead !== old.dead) return [consumer, moved];
    return [consumer, { ...moved, deadLetter: { ...moved.deadLetter, queue: nextGeneration(dead, separator, taken) } }];
  });
  return { ...to.system, consumers: Object.fromEntries(consumers) };
}
