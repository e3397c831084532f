import { numberedSteps } from "../diagnostics/numbered-steps.ts";
import type { BrokerName, CompiledSystem, Target, TargetInput } from "../brokers/index.ts";
import { brokerOf, checkTarget } from "../brokers/index.ts";
import { diagnoseOwners } from "../contract/own-strategy.ts";
import { sureSystem } from "../declare/check.ts";
import type { System } from "../declare/system.ts";
import { type Checked, type Diagnostic, accepted, diagnosed } from "../diagnostics/diagnostic.ts";
import { type Plan, plan } from "../plan/plan.ts";
import type { Verdict, Violation } from "../verify/verdict.ts";
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
  const verdicts = prove(compiled.value, target);
  if (!verdicts.ok) return verdicts;
  return { ...compiled, value: { plan: planned, target, compiled: value, verdicts: verdicts.value } };
}

/**
 * Proves every consumer of a compiled system.
 *
 * @returns a refusal if it breaks only by parts of the broker that others own and the target names
 * @throws InternalError with the shortest trace of every violation
 */
export function prove(compiled: CompiledSystem, target: Target): Checked<readonly Verdict[]> {
  const verdicts = verifyAll(brokerOf(target).subjectsOf(compiled, target));
  const violations = violationsIn(verdicts);
  if (violations.length === 0) return accepted(verdicts);
  const diagnostics = brokenByOthers(compiled, target, violations);
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  const lines = violations.flatMap(({ consumer, property, message, trace }) => [
    `${consumer}: ${property}: ${message}`,
    ...numberedSteps(trace).map((step) => `  ${step}`),
  ]);
  throw new InternalError(
    `the compiled result for ${compiled.target} breaks its promises, so Redeliver does not return it:\n${lines.join("\n")}`,
  );
}

function violationsIn(verdicts: readonly Verdict[]): readonly Violation[] {
  return verdicts.flatMap((verdict) => verdict.violations);
}

/** The parts of others that break the proof, each by itself or all together. None if it breaks without them. */
function brokenByOthers(compiled: CompiledSystem, target: Target, together: readonly Violation[]): Diagnostic[] {
  const { assumedIn, subjectsOf } = brokerOf(target);
  if (assumedIn === undefined) return [];
  const { own, parts } = assumedIn(compiled, target);
  const violationsOf = (system: CompiledSystem): readonly Violation[] =>
    violationsIn(verifyAll(subjectsOf(system, target)));
  if (violationsOf(own).length > 0) return [];
  const alone = parts
    .map((part) => ({ ...part, violations: violationsOf(part.only) }))
    .filter(({ violations }) => violations.length > 0);
  const all = { path: ["target", "policies"], what: parts.map(({ what }) => what).join(" and "), violations: together };
  return (alone.length > 0 ? alone : [all]).flatMap(({ path, what, violations: [first, ...others] }) =>
    first === undefined
      ? []
      : diagnosed("RD242", {
          path,
          message: `with ${what} the proof of ${first.consumer} fails: ${first.message}`,
          notes: [
            ...numberedSteps(first.trace),
            ...(others.length === 0
              ? []
              : [
                  `it breaks ${others.length} more ${others.length === 1 ? "promise" : "promises"}: ${others[0]?.message}`,
                ]),
          ],
          help: "let its owner leave these queues out of its pattern or values, or compile for another strategy",
        }),
  );
}

/** A mistake in Redeliver itself, and not in the declaration. */
export class InternalError extends Error {
  override readonly name = "InternalError";
}
