import * as pulumi from "@pulumi/pulumi";

import { brokers } from "../brokers/index.ts";
import type { CompiledSystem } from "../brokers/index.ts";
import { deployRabbitmq } from "../brokers/rabbitmq/deploy.ts";
import type { Asked } from "./accept.ts";
import { acceptOrRefuse, inputsOf, showWarnings, summarise } from "./accept.ts";
import type { LeftBehind } from "./guard-change.ts";
import { guardChange, leftOf, takenOf } from "./guard-change.ts";

/**
 * What decides the topology is plain: it has to be known before anything is created, in a preview too. Only wiring
 * may be an output of another resource. The target is for example `{ broker: "rabbitmq", version: "4.3" }`.
 */
export interface RetryTopologyArgs extends Asked<"rabbitmq"> {
  /** The virtual host; it has to be there. Left out, the broker's default one, `/`. */
  readonly vhost?: pulumi.Input<string>;
}

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
  readonly contracts: CompiledSystem<"rabbitmq">["contracts"];
  /** The name of each consumer's work queue, known as soon as the queue is there. */
  readonly workQueues: Readonly<Record<string, pulumi.Output<string>>>;

  /** What the last update left on the broker, since messages may be in it: queues that nothing declares any more. */
  readonly left: pulumi.Output<readonly LeftBehind[]>;

  constructor(name: string, args: RetryTopologyArgs, opts?: pulumi.ComponentResourceOptions) {
    const { system, target, compiled, warnings } = acceptOrRefuse("rabbitmq", name, args);
    const guard = guardChange({ type: "RetryTopology", name, system, target, compiled }, opts);
    super(
      "redeliver:index:RetryTopology",
      name,
      inputsOf(system, { broker: args.target.broker, version: args.target.version, strategy: target.strategy }, args),
      guard.options,
    );
    showWarnings(warnings, this);
    const deployed = deployRabbitmq(compiled.topology, {
      name,
      parent: this,
      namespace: args.vhost ?? brokers.rabbitmq.defaultNamespace ?? "/",
    });
    this.contracts = compiled.contracts;
    this.workQueues = deployed.workQueues;
    this.left = leftOf(this, guard);
    this.registerOutputs({ ...summarise(system, compiled), left: this.left, taken: takenOf(this, guard) });
  }
}
