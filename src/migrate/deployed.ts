import type { DeployedPart } from "../brokers/deployed-part.ts";
import type { AnyContract } from "../contract/contract.ts";
import { isEntry } from "../foreign/entries.ts";
import { type CompiledSystem, type Target, type TargetInput, brokerOf, checkTarget } from "../brokers/index.ts";
import { checkSystem } from "../declare/check.ts";
import type { System, SystemInput } from "../declare/system.ts";
import { namesOfQueues } from "../plan/names.ts";
import { plan } from "../plan/plan.ts";

/** A system, its target, and the result of compiling the system for the target. */
export interface Changed {
  readonly system: System;
  readonly target: Target;
  readonly compiled: CompiledSystem;
}

/** One side of a change, with the parts that are on the broker. */
export interface Deployed extends Changed {
  readonly parts: readonly DeployedPart[];
  /** The contract of each consumer. */
  readonly contracts: ReadonlyMap<string, AnyContract>;
  /** The name of each declared source on the broker, which may add a suffix. */
  readonly sourceNames: ReadonlyMap<string, string>;
}

export function deployedOf({ system, target, compiled }: Changed): Deployed {
  const parts = brokerOf(target).deployedPartsOf(compiled);
  const contracts = compiled.contracts.map((each: AnyContract) => [each.consumer, each] as const);
  const sources = parts.flatMap(({ source, name }) => (source === undefined ? [] : [[source, name] as const]));
  return { system, target, compiled, parts, contracts: new Map(contracts), sourceNames: new Map(sources) };
}

/**
 * The old side under the names that its consumers have now. A consumer that says how it was called keeps its name on
 * the broker, so both sides are about the same queues.
 */
export function underNewNames(from: Deployed, system: System): Deployed {
  const { consumers: old } = from.system;
  const { separator } = brokerOf(from.target);
  const queueOf = (side: System, consumer: string): string => namesOfQueues(side, consumer, separator).work;
  // If another one has its name now, with another queue, only a word of the declaration makes it this consumer.
  const isFree = (key: string, word: string | undefined): boolean =>
    !Object.hasOwn(system.consumers, key) || (word !== undefined && queueOf(system, key) !== queueOf(from.system, key));
  const renamedBefore = Object.entries(old).filter(([, { formerly }]) => formerly !== undefined);
  const names = Object.entries(system.consumers).flatMap(([consumer, { formerly }]) => {
    if (Object.hasOwn(old, consumer)) return [];
    if (formerly !== undefined && Object.hasOwn(old, formerly)) return [[formerly, consumer] as const];
    // Renamed once more, or back again, it has the same queue.
    const [owner] =
      renamedBefore.find(
        ([key, own]) =>
          isFree(key, formerly) &&
          own.formerly === (formerly ?? consumer) &&
          queueOf(from.system, key) === queueOf(system, consumer),
      ) ?? [];
    return owner === undefined ? [] : [[owner, consumer] as const];
  });
  return renamed(from, new Map(names));
}

/** A side under other names of consumers, which keep their names on the broker. */
export function renamed(from: Deployed, names: ReadonlyMap<string, string>): Deployed {
  if (names.size === 0) return from;
  const renamed = Object.entries(from.system.consumers).map(([consumer, declared]) => {
    const now = names.get(consumer);
    return [now ?? consumer, now === undefined ? declared : { formerly: consumer, ...declared }] as const;
  });
  const system = { ...from.system, consumers: Object.fromEntries(renamed) };
  const nameOf = (consumer: string): string => names.get(consumer) ?? consumer;
  const target = brokerOf(from.target).targetUnder(from.target, nameOf);
  const compiled = brokerOf(target).compile(plan(system), target);
  return compiled.ok ? deployedOf({ system, target, compiled: compiled.value }) : from;
}

/** The parts that are not among the others. */
export function partsBeside<Part extends Pick<DeployedPart, "kind" | "name">>(
  parts: readonly Part[],
  others: readonly Pick<DeployedPart, "kind" | "name">[],
): readonly Part[] {
  const names = new Set(others.map(partKey));
  return parts.filter((part) => !names.has(partKey(part)));
}

/** A queue and an exchange may have one name. */
export function partKey({ kind, name }: Pick<DeployedPart, "kind" | "name">): string {
  return `${kind} ${name}`;
}

/** The target of a system that is deployed over another one. Its queues keep the parts that nobody can change. */
export function overDeployed({ target: old }: Pick<Deployed, "target">, target: Target): Target {
  return old.broker === target.broker ? (brokerOf(target).targetOver?.(old, target) ?? target) : target;
}

/** True if the broker has to be upgraded before a target. */
export function needsUpgrade(old: Target, target: Target): boolean {
  return old.broker === target.broker && brokerOf(target).isOlder?.(old, target) === true;
}

/** True if the new system is on another broker or in another region. Then everything old stays as it is. */
export function isElsewhere(from: Pick<Deployed, "target">, to: Pick<Deployed, "target">): boolean {
  const [old, now] = [from, to].map(({ target }) => brokerOf(target).placeOf?.(target));
  return from.target.broker !== to.target.broker || old !== now;
}

/**
 * Reads the old deployment from the declaration and the target in the state. It was proved when it was deployed, so it
 * is not proved again.
 *
 * @returns null if this version of Redeliver no longer takes the declaration or the target
 */
export function readDeployed(declaration: unknown, target: unknown): Deployed | null {
  if (!isEntry(target)) return null;
  const system = checkSystem(declaration as SystemInput);
  const checked = checkTarget(target as unknown as TargetInput);
  if (!system.ok || !checked.ok) return null;
  const compiled = brokerOf(checked.value).compile(plan(system.value), checked.value);
  return compiled.ok ? deployedOf({ system: system.value, target: checked.value, compiled: compiled.value }) : null;
}
