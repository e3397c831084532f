import * as pulumi from "@pulumi/pulumi";

import { brokerOf, brokers, checkTarget } from "../brokers/index.ts";
import type { BrokerName, CompiledSystem, Target, TargetInput } from "../brokers/index.ts";
import { compile } from "../verify/compile.ts";
import { deployRabbitmq } from "../brokers/rabbitmq/deploy.ts";
import { checkSystem } from "../declare/check.ts";
import type { System, SystemInput } from "../declare/system.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { plan } from "../plan/plan.ts";

/** The brokers that can be deployed to. */
export type Deployable = keyof typeof deployers;

/**
 * What decides the topology is plain: it has to be known before anything is created, in a preview too. Only wiring
 * may be an output of another resource.
 */
export interface RetryTopologyArgs {
  /** The declaration, from `defineSystem` or as plain data of the same form. */
  readonly system: System | SystemInput;
  /** What runs there, for example `{ broker: "rabbitmq", version: "4.3" }`. */
  readonly target: TargetInput<Deployable>;
  /** The virtual host; it has to be there. Left out, the broker's default one, `/`. */
  readonly vhost?: pulumi.Input<string>;
}

/** The deployer of each broker that can be deployed to; the others can be compiled for. */
const deployers = { rabbitmq: deployRabbitmq } satisfies Readonly<Partial<Record<BrokerName, unknown>>>;

/**
 * Everything that the consumers of a declaration need on the broker to retry: exchanges, queues, policies, bindings.
 *
 * The declaration and the target are inputs of the component, so they are in the state and policies can judge them.
 * Warnings of the compiler are shown on the component.
 *
 * @throws pulumi.RunError with the rendered diagnostics, before anything is registered, where the declaration or the
 *   target is refused
 */
export class RetryTopology extends pulumi.ComponentResource {
  /** What the code of each consumer must do for the promises to hold. */
  readonly contracts: CompiledSystem<Deployable>["contracts"];
  /** The name of each consumer's work queue, known as soon as the queue is there. */
  readonly workQueues: Readonly<Record<string, pulumi.Output<string>>>;

  constructor(name: string, args: RetryTopologyArgs, opts?: pulumi.ComponentResourceOptions) {
    const { system, target, compiled, warnings } = compileOrRefuse(name, args);
    super(
      "redeliver:index:RetryTopology",
      name,
      {
        declaration: system,
        target: {
          broker: args.target.broker,
          version: args.target.version,
          strategy: target.strategy,
        },
      },
      opts,
    );
    if (warnings.length > 0) void pulumi.log.warn(`\n${renderDiagnostics(warnings)}`, this);
    const deployed = deployers[target.broker](compiled.topology, {
      name,
      parent: this,
      namespace: args.vhost ?? brokers[target.broker].defaultNamespace,
    });
    this.contracts = compiled.contracts;
    this.workQueues = deployed.workQueues;
    this.registerOutputs({ target: compiled.target, consumers: summarise(system, compiled) });
  }
}

interface Accepted {
  readonly system: System;
  readonly target: Target<Deployable>;
  readonly compiled: CompiledSystem<Deployable>;
  readonly warnings: readonly Diagnostic[];
}

function compileOrRefuse(name: string, args: RetryTopologyArgs): Accepted {
  const system = checkSystem(args.system);
  const target = checkTarget<Deployable>(args.target);
  if (!system.ok || !target.ok) {
    throw refusal(name, [...(system.ok ? [] : system.diagnostics), ...(target.ok ? [] : target.diagnostics)]);
  }
  // Types say so already; not every program is checked.
  if (!Object.hasOwn(deployers, target.value.broker)) {
    throw new pulumi.RunError(
      `RetryTopology ${JSON.stringify(name)} is refused: ${brokerOf(target.value).title} cannot be deployed to yet`,
    );
  }
  const compiled = compile(system.value, target.value);
  if (!compiled.ok) throw refusal(name, compiled.diagnostics);
  return {
    system: system.value,
    target: target.value,
    compiled: compiled.value,
    warnings: [...system.warnings, ...compiled.warnings],
  };
}

/** Pulumi shows a RunError without its stack, which would be of no use to the person who wrote the declaration. */
function refusal(name: string, diagnostics: readonly Diagnostic[]): pulumi.RunError {
  return new pulumi.RunError(`RetryTopology ${JSON.stringify(name)} is refused\n${renderDiagnostics(diagnostics)}`);
}

/** What `pulumi up` shows, and what stack policies see. Durations are in milliseconds. */
function summarise(system: System, compiled: CompiledSystem<Deployable>): Record<string, object> {
  const plans = plan(system).consumers;
  return Object.fromEntries(
    compiled.contracts.map((contract, index) => [
      contract.consumer,
      {
        strategy: contract.strategy,
        workQueue: contract.workQueue,
        deadQueue: contract.deadQueue,
        attempts: contract.attempts.length,
        worstCaseToDeadLetterMs: plans[index]?.retry?.worstCaseToDeadLetterMs ?? null,
      },
    ]),
  );
}
