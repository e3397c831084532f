import { type Target, type TargetInput, brokerOf, checkTarget } from "../brokers/index.ts";
import type { AnyContract } from "../contract/contract.ts";
import { withOwnStrategy } from "../contract/own-strategy.ts";
import type { System } from "../declare/system.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { plan, planAlone } from "../plan/plan.ts";
import { type Deployed, overDeployed, underNewNames } from "./deployed.ts";

/** A target, and the consumers whose deployed strategy it names. */
export interface Kept {
  readonly value: Target;
  readonly kept: readonly string[];
}

/**
 * The target on which `auto` keeps the deployed strategy of each consumer, as long as that keeps every promise. Another
 * one is a migration, and a small change of a declaration must not begin one. Strategies that the target names count.
 */
export function keepStrategies(old: Deployed, system: System, wanted: Target): Kept {
  const target = overDeployed(old, wanted);
  const none = { value: target, kept: [] };
  if (old.target.broker !== target.broker) return none;
  const compiled = brokerOf(target).compile(plan(system), target);
  if (!compiled.ok) return none;
  const contracts: readonly AnyContract[] = underNewNames(old, system).compiled.contracts;
  const deployed = new Map(contracts.map(({ consumer, strategy }) => [consumer, strategy]));
  const kept = compiled.value.contracts.flatMap(({ consumer, strategy, workQueue }: AnyContract) => {
    const was = deployed.get(consumer);
    // A queue of each instance has no strategy.
    if (
      workQueue === null ||
      was === undefined ||
      was === strategy ||
      withOwnStrategy(target, consumer).strategy !== "auto"
    )
      return [];
    return objectionsTo(was, { system, target }, consumer).length === 0 ? [[consumer, was] as const] : [];
  });
  const named = withStrategies(target, kept);
  return kept.length > 0 && named.ok ? { value: named.value, kept: kept.map(([consumer]) => consumer) } : none;
}

/** The reasons that a consumer cannot have a strategy; empty if it can. */
export function objectionsTo(
  strategy: string,
  { system, target }: Pick<Deployed, "system" | "target">,
  consumer: string,
): readonly Diagnostic[] {
  const named = withStrategies(target, [[consumer, strategy]]);
  if (!named.ok) return named.diagnostics;
  const compiled = brokerOf(named.value).compile(planAlone(system, consumer), named.value);
  return compiled.ok ? [] : compiled.diagnostics;
}

/** The target, with the strategies of single consumers beside its own. */
export function withStrategies(target: Target, strategies: Iterable<readonly [string, string]>): Checked<Target> {
  return checkTarget({
    ...target,
    strategies: { ...target.strategies, ...Object.fromEntries(strategies) },
  } as TargetInput);
}
