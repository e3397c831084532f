import * as pulumi from "@pulumi/pulumi";

import type { CompiledSystem } from "../brokers/index.ts";
import { deployServicebus } from "../brokers/servicebus/deploy.ts";
import type { Asked } from "./accept.ts";
import { acceptOrRefuse, inputsOf, showWarnings, summarise } from "./accept.ts";
import type { LeftBehind } from "./guard-change.ts";
import { guardChange, leftOf, takenOf } from "./guard-change.ts";

/**
 * What decides the topology is plain: it has to be known before anything is created, in a preview too. Only wiring
 * may be an output of another resource. The target is for example `{ broker: "servicebus", sku: "standard" }`; its tier
 * has to be that of the namespace.
 */
export interface ServicebusRetryTopologyArgs extends Asked<"servicebus"> {
  /** The Azure resource id of the namespace: `/subscriptions/…/resourceGroups/…/providers/Microsoft.ServiceBus/namespaces/…`. */
  readonly namespaceId: pulumi.Input<string>;
  /** The Azure resource ids of the action groups that every alert tells when it goes off. */
  readonly actionGroupIds?: readonly pulumi.Input<string>[];
}

/**
 * Everything that the consumers of a declaration need in a namespace of Service Bus to retry: queues, topics, subscriptions
 * with their rules, alerts.
 *
 * The declaration and the target are inputs of the component, so they are in the state and policies can judge them.
 * Warnings of the compiler are shown on the component.
 *
 * @throws pulumi.RunError with the rendered diagnostics, before anything is registered, where the declaration or the
 *   target is refused
 */
export class ServicebusRetryTopology extends pulumi.ComponentResource {
  /** What the code of each consumer must do for the promises to hold. */
  readonly contracts: CompiledSystem<"servicebus">["contracts"];
  /** What each consumer receives from, a queue or a subscription's path, known as soon as it is there. */
  readonly workQueues: Readonly<Record<string, pulumi.Output<string>>>;
  /** The name of the topic of each source, for its publishers. */
  readonly topics: Readonly<Record<string, pulumi.Output<string>>>;

  /** What the last update left on the broker, since messages may be in it: queues that nothing declares any more. */
  readonly left: pulumi.Output<readonly LeftBehind[]>;

  constructor(name: string, args: ServicebusRetryTopologyArgs, opts?: pulumi.ComponentResourceOptions) {
    const { system, target, compiled, warnings } = acceptOrRefuse("servicebus", name, args);
    const guard = guardChange({ type: "ServicebusRetryTopology", name, system, target, compiled }, opts);
    super("redeliver:servicebus:RetryTopology", name, inputsOf(system, { ...target }, args), guard.options);
    showWarnings(warnings, this);
    const deployed = deployServicebus(compiled.topology, {
      name,
      parent: this,
      namespaceId: args.namespaceId,
      actionGroupIds: args.actionGroupIds ?? [],
    });
    this.contracts = compiled.contracts;
    this.workQueues = deployed.workQueues;
    this.topics = deployed.topics;
    this.left = leftOf(this, guard);
    this.registerOutputs({ ...summarise(system, compiled), left: this.left, taken: takenOf(this, guard) });
  }
}
