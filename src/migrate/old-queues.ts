import type { AnyContract } from "../contract/contract.ts";
import type { System } from "../declare/system.ts";
import { nameOfSystem } from "../plan/plan.ts";
import { type Deployed, isElsewhere, partsBeside } from "./deployed.ts";
import { nameOnBroker } from "./taken-sources.ts";

/** A consumer that goes. It gets no new messages, and drains its queue. */
export interface Gone {
  readonly consumer: string;
  readonly queue: string;
  readonly longestDelayMs: number;
}

/** The queues and the sources of an old system that works on beside the new one. */
export interface Apart {
  readonly queues: readonly string[];
  /** `newName` is null if the new system has no source under the same key. */
  readonly sources: readonly { readonly name: string; readonly newName: string | null }[];
}

/** The parts of the old system that nothing of the new one touches, if it has another name or another place. */
export function apartFrom(from: Deployed, to: Deployed): Apart | null {
  const elsewhere = isElsewhere(from, to);
  if (!elsewhere && nameOfSystem(from.system) === nameOfSystem(to.system)) return null;
  const sources = Object.entries(from.system.sources).flatMap(([key, { owner }]) => {
    const name = nameOnBroker(from, key);
    const newName = Object.hasOwn(to.system.sources, key) ? nameOnBroker(to, key) : null;
    return owner === "other" || (!elsewhere && name === newName) ? [] : [{ name, newName }];
  });
  return { queues: drainedBefore(from, elsewhere ? null : to), sources };
}

/** The consumers that the new system does not have. Under another name of the system all queues are new. */
export function goneIn(from: Deployed, { consumers, ...system }: System): readonly Gone[] {
  if (nameOfSystem(from.system) !== nameOfSystem(system)) return [];
  return [...from.contracts.values()].flatMap((contract) => {
    const { consumer, workQueue: queue } = contract;
    if (queue === null || Object.hasOwn(consumers, consumer)) return [];
    return [{ consumer, queue, longestDelayMs: longestDelayOf([contract]) }];
  });
}

/** The old queues that have to be empty before the last step. */
export function drainedBefore(from: Deployed, last: Deployed | null): readonly string[] {
  return partsBeside(from.parts, last?.parts ?? [])
    .filter(({ holds }) => holds === "work" || holds === "waiting")
    .map(({ name }) => name);
}

/** The longest delay of a retry by these contracts. A message may come back to an empty queue until then. */
export function longestDelayOf(contracts: readonly Pick<AnyContract, "attempts">[]): number {
  const delays = contracts.flatMap(({ attempts }) => attempts.map((each) => each.delayLatestMs ?? each.delayMs));
  return Math.max(0, ...delays);
}
