import { type Target, brokerOf } from "../brokers/index.ts";
import { resourcesOf, sumOf } from "../compile/budget.ts";
import type { Plan } from "../plan/plan.ts";

/** The price of a system on the broker under one strategy. */
export interface Costs {
  /** `auto` if each consumer has its own strategy. */
  readonly strategy: string;
  /** The number of resources of each kind. Null if the strategy cannot keep the promises of each consumer. */
  readonly resources: Readonly<Record<string, number>> | null;
  /** True if messages wait in tiers. Each retry then stores its message twice more: in a tier, and in the work queue. */
  readonly usesTiers: boolean;
}

/** The costs under the target's own strategy first, and then under each strategy of its broker. Proves nothing. */
export function costsByStrategy(plan: Plan, target: Target): readonly Costs[] {
  const { strategyNames } = brokerOf(target);
  const own = target.strategy ?? "auto";
  const others = strategyNames.filter((name) => name !== own);
  return [target, ...others.map((strategy) => ({ ...target, strategy }) as Target)].map((each) => costsOf(plan, each));
}

/** The costs under the target's own strategy. Proves nothing. */
export function costsOf(plan: Plan, target: Target): Costs {
  const { compile, graphOf } = brokerOf(target);
  const strategy = target.strategy ?? "auto";
  const compiled = compile(plan, target);
  if (!compiled.ok) return { strategy, resources: null, usesTiers: false };
  const usesTiers = graphOf(compiled.value).edges.some(({ kind }) => kind === "due");
  return { strategy, resources: resourcesOf(compiled.value), usesTiers };
}

/** One row for each strategy, with text in each cell. */
export function costTable(costs: readonly Costs[]): { readonly head: string[]; readonly rows: readonly string[][] } {
  const kinds = [...new Set(costs.flatMap(({ resources }) => Object.keys(resources ?? {})))];
  return {
    head: ["strategy", ...kinds, "together", "a retry passes"],
    rows: costs.map(({ strategy, resources, usesTiers }) =>
      resources === null
        ? [strategy, ...kinds.map(() => "–"), "–", "cannot keep the promises"]
        : [
            strategy,
            ...kinds.map((kind) => String(resources[kind] ?? 0)),
            String(sumOf(resources)),
            usesTiers ? "a tier" : "no tier",
          ],
    ),
  };
}
