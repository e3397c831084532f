import type { BrokerName, CompiledSystem, Target, TargetInput } from "../brokers/index.ts";
import { brokerOf, checkTarget } from "../brokers/index.ts";
import type { System } from "../declare/system.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import { plan } from "../plan/plan.ts";
import type { Verdict } from "./verify.ts";
import { verifyAll } from "./verify.ts";

/**
 * Compiles a system for a broker, and proves what comes out.
 *
 * @returns the topology, each consumer's contract, who keeps which promise and which strategy was chosen; with warnings
 *   for what this target can do only with a consequence. Or every reason why it is refused.
 * @throws InternalError when the compiled topology does not keep its promises: a mistake in Redeliver, and nothing is emitted
 */
export function compile<Name extends BrokerName>(
  system: System,
  target: TargetInput<Name> | Target<Name>,
): Checked<CompiledSystem<Name>> {
  const checked = checkTarget(target);
  if (!checked.ok) return checked;
  const compiled = brokerOf(checked.value).compile(plan(system), checked.value);
  if (compiled.ok) prove(compiled.value, checked.value);
  return compiled as Checked<CompiledSystem<Name>>;
}

/**
 * Proves every consumer of a compiled system.
 *
 * @throws InternalError with the shortest trace of everything that does not hold
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
    `what was compiled for ${compiled.target} does not keep its promises, so it is not given out:\n${lines.join("\n")}`,
  );
}

/** A mistake in Redeliver itself, and not in what was declared. */
export class InternalError extends Error {
  override readonly name = "InternalError";
}
