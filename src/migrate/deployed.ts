import type { DeployedPart } from "../brokers/deployed-part.ts";
import { isEntry } from "../foreign/entries.ts";
import { type CompiledSystem, type Target, type TargetInput, brokerOf, checkTarget } from "../brokers/index.ts";
import { checkSystem } from "../declare/check.ts";
import type { System, SystemInput } from "../declare/system.ts";
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
}

export function deployedOf({ system, target, compiled }: Changed): Deployed {
  return { system, target, compiled, parts: brokerOf(target).deployedPartsOf(compiled) };
}

/**
 * The old side under the names that its consumers have now. A consumer that says how it was called keeps its name on
 * the broker, so both sides are about the same queues.
 */
export function underNewNames(from: Deployed, { consumers }: System): Deployed {
  const old = from.system.consumers;
  const owners = new Map([
    ...Object.entries(old).flatMap(([key, { formerly, queue }]) =>
      formerly === undefined || queue !== undefined ? [] : [[formerly, key] as const],
    ),
    ...Object.keys(old).map((key) => [key, key] as const),
  ]);
  const names = new Map(
    Object.entries(consumers).flatMap(([consumer, { formerly }]) => {
      const owner = owners.get(formerly ?? consumer);
      const isOther = formerly === undefined && owner !== undefined && Object.hasOwn(consumers, owner);
      return owner === undefined || isOther || Object.hasOwn(old, consumer) ? [] : [[owner, consumer] as const];
    }),
  );
  return renamed(from, names);
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

/** True if the new system is on another broker or in another region. Then everything old stays as it is. */
export function isElsewhere(from: Deployed, to: Deployed): boolean {
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
