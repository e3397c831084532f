import type { AnyContract } from "../contract/contract.ts";
import { type Deployed, underNewNames } from "./deployed.ts";

/**
 * A consumer with `order: "per-key"` before and after, and another queue. Messages in the old queue come before those in
 * the new one. So nothing may take from the new queue until the old one is empty.
 */
export interface HeldBack {
  readonly consumer: string;
  /** The consumer that has the old queue. It has another name on a way back. */
  readonly before: string;
  readonly queue: string;
  readonly newQueue: string;
  /** True if producers send to the old queue itself, and have to move. */
  readonly isDirect: boolean;
}

/** The consumers whose new code has to wait behind the gate. */
export function heldBack(from: Deployed, last: Deployed): readonly HeldBack[] {
  const before = underNewNames(from, last.system);
  const old = queuesInOrder(before);
  return queuesInOrder(last).flatMap((now) =>
    old
      .filter(({ consumer, name, queue }) => {
        return queue !== now.queue && (consumer === now.consumer || name === now.name);
      })
      .map(({ consumer, queue }) => ({
        consumer: now.consumer,
        before: consumer,
        queue,
        newQueue: now.queue,
        isDirect: Object.keys(before.system.consumers[consumer]?.from ?? {}).length === 0,
      })),
  );
}

function queuesInOrder({ system, compiled }: Deployed) {
  return (compiled.contracts as readonly AnyContract[]).flatMap(({ consumer, workQueue: queue }) => {
    const { order, formerly: name = consumer } = system.consumers[consumer] ?? {};
    return order === "per-key" && queue !== null ? [{ consumer, name, queue }] : [];
  });
}
