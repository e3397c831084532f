import type { Drift } from "../brokers/drift.ts";
import { type Target, brokerOf } from "../brokers/index.ts";
import { withOwnStrategy } from "../contract/own-strategy.ts";
import type { System } from "../declare/system.ts";
import { type Checked, accepted } from "../diagnostics/diagnostic.ts";
import { type Plan, plan } from "../plan/plan.ts";
import { driftFrom } from "./judge-drift.ts";
import { withStrategies } from "./keep-strategies.ts";

/** A declaration on a broker, with the strategies that run there. */
export interface FoundSystem {
  readonly target: Target;
  readonly drift: Drift<unknown>;
}

/**
 * Compares a declaration with a broker, under the strategies that run there. A consumer that may have any strategy gets
 * the one with the fewest resources that are missing or different. That of `auto` comes first.
 */
export function findDeployed(deployment: unknown, system: System, target: Target): Checked<FoundSystem> {
  const whole = plan(system);
  const asChosen = compared(deployment, whole, target);
  if (!asChosen.ok || lacksOf(asChosen.value) === 0) return asChosen;
  const found = whole.consumers.flatMap((each) => {
    const { consumer, retry } = each;
    if (retry === null || withOwnStrategy(target, consumer).strategy !== "auto") return [];
    const counted = ["auto", ...brokerOf(target).strategyNames].flatMap((strategy) => {
      const named = withStrategies(target, [[consumer, strategy]]);
      const alone = named.ok ? compared(deployment, { ...whole, consumers: [each] }, named.value) : named;
      return alone.ok ? [{ strategy, lacks: lacksOf(alone.value) }] : [];
    });
    const [best] = counted.toSorted((one, other) => one.lacks - other.lacks);
    return best === undefined || best.strategy === "auto" ? [] : [[consumer, best.strategy] as const];
  });
  const named = withStrategies(target, found);
  return found.length > 0 && named.ok ? compared(deployment, whole, named.value) : asChosen;
}

function compared(deployment: unknown, planned: Plan, target: Target): Checked<FoundSystem> {
  const compiled = brokerOf(target).compile(planned, target);
  const drift = compiled.ok ? driftFrom(deployment, { target, compiled: compiled.value }) : compiled;
  return drift.ok ? accepted({ target, drift: drift.value }) : drift;
}

/** The number of its resources that are not on the broker as declared. Others may be there as well. */
function lacksOf({ drift }: FoundSystem): number {
  return drift.differences.filter(({ change }) => change !== "extra").length;
}
