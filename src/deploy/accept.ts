import * as pulumi from "@pulumi/pulumi";

import { type BrokerName, type CompiledSystem, type TargetInput, brokerOf, checkTarget } from "../brokers/index.ts";
import { checkSystem } from "../declare/check.ts";
import type { System, SystemInput } from "../declare/system.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { type Proved, compile, compileAndProve } from "../compile/compile.ts";

/**
 * The arguments of a component. They are plain, because they must be known before any resource is created, in a preview
 * too.
 */
export interface Asked<Name extends BrokerName> {
  /** The declaration, from `defineSystem` or as plain data of the same form. */
  readonly system: System | SystemInput;
  readonly target: TargetInput<Name>;
  /** The owner of the dead letters, such as `team-billing`. The state keeps it, so that a policy can ask for it. */
  readonly owner?: string;
}

/** A declaration that Redeliver has checked, compiled and proved. */
export interface Accepted<Name extends BrokerName> extends Proved<Name> {
  readonly system: System;
  readonly warnings: readonly Diagnostic[];
  /** The whole system, if this stack deploys some of its consumers. Otherwise the same as `compiled`. */
  readonly whole: CompiledSystem<Name>;
}

/**
 * Judges the arguments of a component before any resource is registered.
 *
 * @param broker the broker that the component deploys to
 * @param narrow takes the consumers of one stack out of the system. Names in the whole system may clash, so all of it is
 *   compiled; the proof is about the consumers of this stack
 * @throws pulumi.RunError with the rendered diagnostics if the declaration or the target is refused
 */
export function acceptOrRefuse<Name extends BrokerName>(
  broker: Name,
  name: string,
  asked: Asked<Name>,
  narrow?: (system: System) => System,
): Accepted<Name> {
  const system = checkSystem(asked.system);
  const target = checkTarget<Name>(asked.target);
  if (!system.ok || !target.ok) {
    throw refusal(name, [...(system.ok ? [] : system.diagnostics), ...(target.ok ? [] : target.diagnostics)]);
  }
  const other: BrokerName = target.value.broker;
  // The types say so already, but not every program is type-checked.
  if (other !== broker) {
    const { title, stack } = brokerOf({ broker: other });
    throw new pulumi.RunError(
      `RetryTopology ${JSON.stringify(name)} is refused: for ${title} there is ${stack.component}`,
    );
  }
  const whole = narrow === undefined ? null : compile<Name>(system.value, target.value);
  if (whole?.ok === false) throw refusal(name, whole.diagnostics);
  const own = narrow?.(system.value) ?? system.value;
  const proved = compileAndProve<Name>(own, target.value);
  if (!proved.ok) throw refusal(name, proved.diagnostics);
  const warnings = [...system.warnings, ...proved.warnings];
  return { ...proved.value, system: own, warnings, whole: whole?.value ?? proved.value.compiled };
}

/** Pulumi shows a RunError without its stack, which would not help the author of the declaration. */
export function refusal(name: string, diagnostics: readonly Diagnostic[]): pulumi.RunError {
  return new pulumi.RunError(`RetryTopology ${JSON.stringify(name)} is refused\n${renderDiagnostics(diagnostics)}`);
}

export function showWarnings(warnings: readonly Diagnostic[], component: pulumi.Resource): void {
  if (warnings.length > 0) void pulumi.log.warn(`\n${renderDiagnostics(warnings)}`, component);
}

/** The summary of a component for `pulumi up` and stack policies. Durations are in milliseconds. */
export function summarise({ plan, compiled }: Proved): { target: string; consumers: object } {
  const consumers = compiled.contracts.map((contract, index) => [
    contract.consumer,
    {
      strategy: contract.strategy,
      workQueue: contract.workQueue,
      deadQueue: contract.deadQueue,
      attempts: contract.attempts.length,
      // Only the compiler of a broker knows the limits that the broker itself sets.
      worstCaseToDeadLetterMs:
        "worstCaseToDeadLetterMs" in contract
          ? contract.worstCaseToDeadLetterMs
          : (plan.consumers[index]?.retry?.worstCaseToDeadLetterMs ?? null),
    },
  ]);
  return { target: compiled.target, consumers: Object.fromEntries(consumers) as object };
}

/**
 * The inputs of a component that policies judge. The state keeps them, and a preview knows them.
 *
 * @param part set if other stacks deploy the rest of the system
 */
export function inputsOf(
  declaration: System,
  target: object,
  { owner }: { readonly owner?: string },
  part?: "shared" | "consumers",
): object {
  return { declaration, target, ...(owner === undefined ? {} : { owner }), ...(part === undefined ? {} : { part }) };
}
