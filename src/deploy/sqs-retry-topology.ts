import * as pulumi from "@pulumi/pulumi";

import type { CompiledSystem } from "../brokers/index.ts";
import type { DeployedQueue } from "../brokers/sqs/deploy.ts";
import { deploySqs } from "../brokers/sqs/deploy.ts";
import type { Asked } from "./accept.ts";
import { acceptOrRefuse, inputsOf, showWarnings, summarise } from "./accept.ts";

/**
 * What decides the topology is plain: it has to be known before anything is created, in a preview too. Only wiring
 * may be an output of another resource. The target is for example `{ broker: "sqs", region: "eu-west-1" }`; everything is
 * made in that region, whatever the region of the provider is.
 */
export interface SqsRetryTopologyArgs extends Asked<"sqs"> {
  /** The ARNs of what every alarm tells when it goes off, such as a topic that somebody is subscribed to. */
  readonly alarmActions?: readonly pulumi.Input<string>[];
}

/**
 * Everything that the consumers of a declaration need at AWS to retry: queues with their policies, topics, subscriptions,
 * alarms.
 *
 * The declaration and the target are inputs of the component, so they are in the state and policies can judge them.
 * Warnings of the compiler are shown on the component.
 *
 * @throws pulumi.RunError with the rendered diagnostics, before anything is registered, where the declaration or the
 *   target is refused
 */
export class SqsRetryTopology extends pulumi.ComponentResource {
  /** What the code of each consumer must do for the promises to hold. */
  readonly contracts: CompiledSystem<"sqs">["contracts"];
  /** The URL and the ARN of each consumer's work queue, known as soon as the queue is there. */
  readonly workQueues: Readonly<Record<string, DeployedQueue>>;
  /** The same of its dead queue. */
  readonly deadQueues: Readonly<Record<string, DeployedQueue>>;
  /** The ARN of the topic of each source, for its publishers. */
  readonly topics: Readonly<Record<string, pulumi.Output<string>>>;

  constructor(name: string, args: SqsRetryTopologyArgs, opts?: pulumi.ComponentResourceOptions) {
    const { system, target, compiled, warnings } = acceptOrRefuse("sqs", name, args);
    const { region } = target;
    super("redeliver:sqs:RetryTopology", name, inputsOf(system, { ...target }, args), opts);
    showWarnings(warnings, this);
    const deployed = deploySqs(compiled.topology, {
      name,
      parent: this,
      region,
      alarmActions: args.alarmActions ?? [],
    });
    this.contracts = compiled.contracts;
    this.workQueues = deployed.workQueues;
    this.deadQueues = deployed.deadQueues;
    this.topics = deployed.topics;
    this.registerOutputs(summarise(system, compiled));
  }
}
