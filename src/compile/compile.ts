import type { BrokerName, CompiledSystem, Target, TargetInput } from "../brokers/index.ts";
import { brokerOf, checkTarget } from "../brokers/index.ts";
import { diagnoseOwners } from "../contract/own-strategy.ts";
import { sureSystem } from "../declare/check.ts";
import type { System } from "../declare/system.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import { type Plan, plan } from "../plan/plan.ts";
import type { Verdict } from "../verify/verdict.ts";
import { verifyAll } from "../verify/verify.ts";
import { diagnoseBudget } from "./budget.ts";

/**
 * A declaration on one target, with every result up to its proof. Later stages use these results and do not repeat the
 * work.
 */
export interface Proved<Name extends BrokerName = BrokerName> {
  /** The timeline of attempts, which is the same on every broker. */
  readonly plan: Plan;
  /** The checked target, with its defaults. */
  readonly target: Target<Name>;
  /** The topology, and the contract of each consumer. */
  readonly compiled: CompiledSystem<Name>;
  /** The proof of each consumer. None of them has a violation. */
  readonly verdicts: readonly Verdict[];
}

/**
 * Compiles a system for a broker, and proves the result.
 *
 * @returns the topology, each consumer's contract, the keeper of each promise and the chosen strategies. Warnings name
 *   each consequence of this target's limits. Or every reason why Redeliver refuses the system
 * @throws InternalError when the compiled topology does not keep its promises: a mistake in Redeliver, and nothing is
 *   emitted
 */
export function compile<Name extends BrokerName>(
  system: System,
  target: TargetInput<Name> | Target<Name>,
): Checked<CompiledSystem<Name>> {
  const proved = compileAndProve<Name>(system, target);
  return proved.ok ? { ...proved, value: proved.value.compiled } : proved;
}

/**
 * Works like `compile`, and also returns the plan, the checked target and the verdicts.
 *
 * @throws InternalError as `compile` does
 */
export function compileAndProve<Name extends BrokerName>(
  system: System,
  target: TargetInput<Name> | Target<Name>,
): Checked<Proved<Name>> {
  const checked = checkTarget<Name>(target);
  if (!checked.ok) return checked;
  const declared = sureSystem(system);
  if (!declared.ok) return declared;
  const proved = provePlan<Name>(plan(declared.value), checked.value);
  return proved.ok ? { ...proved, warnings: [...declared.warnings, ...proved.warnings] } : proved;
}

/**
 * Compiles a plan for a checked target, and proves the result.
 *
 * @throws InternalError as `compile` does
 */
export function provePlan<Name extends BrokerName>(planned: Plan, target: Target<Name>): Checked<Proved<Name>> {
  const strange = diagnoseOwners(planned, target);
  if (strange.length > 0) return { ok: false, diagnostics: strange };
  const compiled = brokerOf(target).compile(planned, target);
  if (!compiled.ok) return compiled;
  const beyond = diagnoseBudget(planned, target, compiled.value);
  if (beyond.length > 0) return { ok: false, diagnostics: beyond };
  const value = compiled.value as CompiledSystem<Name>;
  return { ...compiled, value: { plan: planned, target, compiled: value, verdicts: prove(compiled.value, target) } };
}

/**
 * Proves every consumer of a compiled system.
 *
 * @throws InternalError with the shortest trace of every violation
 */
export function prove(compiled: CompiledSystem, target: Target): readonly Verdict[] {
  const verdicts = verifyAll(brokerOf(target).subjectsOf(compiled, target));
  const violations = verdicts.flatMap((verdict) => verdict.violations);
  if (violations.length === 0) return verdicts;
  const lines = violations.flatMap(({ consumer, property, message, trace }) => [
    `${consumer}: ${property}: ${message}`,
    ...trace.map((step, index) => `  ${index + 1}. ${step}`),
  ]);
  throw new InternalError(
    `the compiled result for ${compiled.target} breaks its promises, so Redeliver does not return it:\n${lines.join("\n")}`,
  );
}

/** A mistake in Redeliver itself, and not in the declaration. */
export class InternalError extends Error {
  override readonly name = "InternalError";
}
