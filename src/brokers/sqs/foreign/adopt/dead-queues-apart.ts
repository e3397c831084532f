import { mostShared } from "../../../../adopt/declare-found.ts";
import type { FoundConsumer, Unsaid } from "../../../../adopt/found.ts";
import { deadOfOthers } from "../../../../adopt/owned-elsewhere.ts";
import { sqsLimits } from "../../compile/capabilities.ts";
import { type AuditedQueue, known, nameIn } from "../deployment.ts";

/**
 * Decides whether the consumers share a dead queue, and which of them get another one.
 *
 * Consumers whose dead queue has letters of queues that are not declared get others, because a compiled dead queue lets
 * in only its own. So do those that would come to the one that others share.
 */
export function deadQueuesApart(
  consumers: readonly FoundConsumer[],
  queues: readonly AuditedQueue[],
  work: readonly AuditedQueue[],
): { readonly shares: boolean; readonly consumers: readonly FoundConsumer[]; readonly unsaid: readonly Unsaid[] } {
  const shares = sharesDeadQueue(consumers, queues);
  const isOthers = (dead: string): boolean =>
    queues.some((each) => !work.includes(each) && baseOf(nameIn(known(each.redrive)?.targetArn ?? "")) === dead);
  const taken = new Set(queues.map(({ name }) => baseOf(name)));
  const common = shares ? mostShared(consumers) : null;
  const owners = Map.groupBy(consumers, ({ dead }) => dead?.value);
  const apart = consumers.map((each): { readonly consumer: FoundConsumer; readonly left: string | null } => {
    const place = each.dead?.value;
    const isCommon = place !== undefined && place === common && each.order === undefined;
    const isLeft =
      place !== undefined && !isCommon && (isOthers(place) || (shares && (owners.get(place)?.length ?? 0) > 1));
    if (!isLeft && !(shares && place === undefined)) return { consumer: each, left: null };
    let value = `${each.queue}-dead`;
    while (taken.has(value)) value = `${value}-2`;
    const from = `${each.queue} has no dead queue to itself today`;
    return { consumer: { ...each, dead: { value, from } }, left: isLeft ? place : null };
  });
  return {
    shares,
    consumers: apart.map(({ consumer }) => consumer),
    unsaid: apart.flatMap(({ consumer, left }) => (left === null ? [] : [deadOfOthers(left, consumer.queue)])),
  };
}

/** True if the target has to make consumers share a dead queue. A consumer in order then needs one of its own. */
function sharesDeadQueue(consumers: readonly FoundConsumer[], queues: readonly AuditedQueue[]): boolean {
  const common = mostShared(consumers);
  // Also queues of other systems may send their dead letters to it.
  const from = queues.filter(({ redrive }) => nameIn(known(redrive)?.targetArn ?? "") === common);
  const owners = Map.groupBy(consumers, ({ dead }) => dead?.value);
  return (
    from.length > 1 &&
    consumers.every(({ order, dead }) => order === undefined || (dead && owners.get(dead.value)?.length === 1))
  );
}

/** The name in a declaration. The compiler adds the end of a FIFO queue's name. */
export function baseOf(name: string): string {
  return name.endsWith(sqsLimits.fifoSuffix) ? name.slice(0, -sqsLimits.fifoSuffix.length) : name;
}
