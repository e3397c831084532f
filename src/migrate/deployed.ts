import type { DeployedPart } from "../brokers/broker.ts";
import { isEntry } from "../brokers/entries.ts";
import type { CompiledSystem, Target, TargetInput } from "../brokers/index.ts";
import { brokerOf, checkTarget } from "../brokers/index.ts";
import { checkSystem } from "../declare/check.ts";
import type { System, SystemInput } from "../declare/system.ts";
import { plan } from "../plan/plan.ts";

/** One side of a change: a system, where it goes, and what it is made of there. */
export interface Deployed {
  readonly system: System;
  readonly target: Target;
  readonly compiled: CompiledSystem;
  readonly parts: readonly DeployedPart[];
}

/** @param compiled what the system compiles to for the target */
export function deployedOf(system: System, target: Target, compiled: CompiledSystem): Deployed {
  return { system, target, compiled, parts: brokerOf(target).deployedPartsOf(compiled) };
}

/**
 * What was deployed, from the declaration and the target that a state keeps. It was proved when it was deployed, so it is not proved again.
 *
 * @returns null where this version of Redeliver no longer takes the declaration or the target
 */
export function readDeployed(declaration: unknown, target: unknown): Deployed | null {
  if (!isEntry(target)) return null;
  const system = checkSystem(declaration as SystemInput);
  const checked = checkTarget(target as unknown as TargetInput);
  if (!system.ok || !checked.ok) return null;
  const compiled = brokerOf(checked.value).compile(plan(system.value), checked.value);
  return compiled.ok ? deployedOf(system.value, checked.value, compiled.value) : null;
}
