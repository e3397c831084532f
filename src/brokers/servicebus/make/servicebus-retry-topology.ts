import * as pulumi from "@pulumi/pulumi";

import type { CompiledSystem } from "../../index.ts";
import { deployServicebus } from "./deploy.ts";
import { type Asked, acceptOrRefuse, inputsOf, showWarnings, summarise } from "../../../deploy/accept.ts";
import { type LeftBehind, guardChange, leftOf, rememberedOf } from "../../../deploy/guard-change.ts";
import { withShortStacks } from "../../../deploy/with-short-stacks.ts";

/**
 * The arguments that decide the topology are plain, because they must be known before any resource is created, in a
 * preview too. Only wiring may be an output of another resource. The target is for example `{ broker: "servicebus",
 * sku: "standard" }`; its tier must be the namespace's.
 */
export interface ServicebusRetryTopologyArgs extends Asked<"servicebus"> {
  /**
   * The Azure resource id of the namespace:
   * `/subscriptions/…/resourceGroups/…/providers/Microsoft.ServiceBus/namespaces/…`.
   */
  readonly namespaceId: pulumi.Input<string>;
  /** The Azure resource ids of the action groups that every alert notifies when it fires. */
  readonly actionGroupIds?: readonly pulumi.Input<string>[];
}

/**
 * All resources in a namespace of Service Bus that the consumers of a declaration need to retry: queues, topics,
 * subscriptions with their rules, alerts.
 *
 * The declaration and the target are inputs of the component, so they are in the state and policies can judge them. The
 * component shows the warnings of the compiler.
 *
 * @throws pulumi.RunError with the rendered diagnostics, before any resource is registered, if the declaration or the
 *   target is refused
 */
export class ServicebusRetryTopology extends pulumi.ComponentResource {
  /** For each consumer, the duties of its code that make the promises hold. */
  readonly contracts: CompiledSystem<"servicebus">["contracts"];
  /** The queue name or subscription path that each consumer receives from, known as soon as it exists. */
  readonly workQueues: Readonly<Record<string, pulumi.Output<string>>>;
  /** The name of the topic of each source, for its publishers. */
  readonly topics: Readonly<Record<string, pulumi.Output<string>>>;

  /**
   * The queues that the last update left on the broker, because they may hold messages. They are no longer declared.
   */
  readonly left: pulumi.Output<readonly LeftBehind[]>;

  constructor(name: string, args: ServicebusRetryTopologyArgs, opts?: pulumi.ComponentResourceOptions) {
    const accepted = acceptOrRefuse("servicebus", name, args);
    const { system, target, compiled, warnings } = accepted;
    const guard = guardChange({ type: "ServicebusRetryTopology", name, to: accepted }, opts);
    super("redeliver:servicebus:RetryTopology", name, inputsOf(system, { ...target }, args), guard.options);
    showWarnings(warnings, this);
    const deployed = withShortStacks(() =>
      deployServicebus(compiled.topology, {
        name,
        parent: this,
        namespaceId: args.namespaceId,
        actionGroupIds: args.actionGroupIds ?? [],
      }),
    );
    this.contracts = compiled.contracts;
    this.workQueues = deployed.workQueues;
    this.topics = deployed.topics;
    this.left = leftOf(this, guard);
    this.registerOutputs({ ...summarise(accepted), left: this.left, ...rememberedOf(this, guard) });
  }
}
