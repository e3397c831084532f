import * as pulumi from "@pulumi/pulumi";

import { brokerOf, checkTarget } from "../brokers/index.ts";
import type { BrokerName, CompiledSystem, Target, TargetInput } from "../brokers/index.ts";
import { checkSystem } from "../declare/check.ts";
import type { System, SystemInput } from "../declare/system.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { plan } from "../plan/plan.ts";
import { compile } from "../verify/compile.ts";

/** What a component is made from. It is plain: it has to be known before anything is created, in a preview too. */
export interface Asked<Name extends BrokerName> {
  /** The declaration, from `defineSystem` or as plain data of the same form. */
  readonly system: System | SystemInput;
  readonly target: TargetInput<Name>;
  /** Who looks after the dead letters, such as `team-billing`. It is kept in the state, where a policy can ask for it. */
  readonly owner?: string;
}

/** A declaration that has been checked, compiled and proved. */
export interface Accepted<Name extends BrokerName> {
  readonly system: System;
  readonly target: Target<Name>;
  readonly compiled: CompiledSystem<Name>;
  readonly warnings: readonly Diagnostic[];
}

/** Which component deploys to which broker. */
const componentOf: Readonly<Record<BrokerName, string>> = {
  rabbitmq: "RetryTopology from redeliver/pulumi",
  sqs: "SqsRetryTopology from redeliver/pulumi/sqs",
  servicebus: "ServicebusRetryTopology from redeliver/pulumi/servicebus",
};

/**
 * Judges what a component is to be made from, before anything is registered.
 *
 * @param broker the one that the component deploys to
 * @throws pulumi.RunError with the rendered diagnostics where the declaration or the target is refused
 */
export function acceptOrRefuse<Name extends BrokerName>(
  broker: Name,
  name: string,
  asked: Asked<Name>,
): Accepted<Name> {
  const system = checkSystem(asked.system);
  const target = checkTarget<Name>(asked.target);
  if (!system.ok || !target.ok) {
    throw refusal(name, [...(system.ok ? [] : system.diagnostics), ...(target.ok ? [] : target.diagnostics)]);
  }
  const other: BrokerName = target.value.broker;
  // Types say so already; not every program is checked.
  if (other !== broker) {
    throw new pulumi.RunError(
      `RetryTopology ${JSON.stringify(name)} is refused: for ${brokerOf({ broker: other }).title} there is ${componentOf[other]}`,
    );
  }
  const compiled = compile<Name>(system.value, target.value);
  if (!compiled.ok) throw refusal(name, compiled.diagnostics);
  return {
    system: system.value,
    target: target.value,
    compiled: compiled.value,
    warnings: [...system.warnings, ...compiled.warnings],
  };
}

/** Pulumi shows a RunError without its stack, which would be of no use to the person who wrote the declaration. */
export function refusal(name: string, diagnostics: readonly Diagnostic[]): pulumi.RunError {
  return new pulumi.RunError(`RetryTopology ${JSON.stringify(name)} is refused\n${renderDiagnostics(diagnostics)}`);
}

/** Shows warnings on the component. */
export function showWarnings(warnings: readonly Diagnostic[], component: pulumi.Resource): void {
  if (warnings.length > 0) void pulumi.log.warn(`\n${renderDiagnostics(warnings)}`, component);
}

/** What `pulumi up` shows of a component, and what stack policies see. Durations are in milliseconds. */
export function summarise(system: System, compiled: CompiledSystem): { target: string; consumers: object } {
  const plans = plan(system).consumers;
  const consumers = compiled.contracts.map((contract, index) => [
    contract.consumer,
    {
      strategy: contract.strategy,
      workQueue: contract.workQueue,
      deadQueue: contract.deadQueue,
      attempts: contract.attempts.length,
      // What a broker bounds, whatever is declared, is known only to its compiler.
      worstCaseToDeadLetterMs:
        "worstCaseToDeadLetterMs" in contract
          ? contract.worstCaseToDeadLetterMs
          : (plans[index]?.retry?.worstCaseToDeadLetterMs ?? null),
    },
  ]);
  return { target: compiled.target, consumers: Object.fromEntries(consumers) as object };
}

/** The inputs of a component that policies judge: the state keeps them, and a preview knows them. */
export function inputsOf(declaration: System, target: object, { owner }: { readonly owner?: string }): object {
  return { declaration, target, ...(owner === undefined ? {} : { owner }) };
}
