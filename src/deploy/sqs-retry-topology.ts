import * as pulumi from "@pulumi/pulumi";

import type { CompiledSystem } from "../brokers/index.ts";
import type { DeployedQueue, Naming } from "../brokers/sqs/deploy.ts";
import { deploySqs, diagnoseAutomaticNames } from "../brokers/sqs/deploy.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import type { Asked } from "./accept.ts";
import { acceptOrRefuse, inputsOf, refusal, showWarnings, summarise } from "./accept.ts";
import type { LeftBehind } from "./guard-change.ts";
import { guardChange, leftOf, takenOf } from "./guard-change.ts";

/**
 * What decides the topology is plain: it has to be known before anything is created, in a preview too. Only wiring
 * may be an output of another resource. The target is for example `{ broker: "sqs", region: "eu-west-1" }`; everything is
 * made in that region, whatever the region of the provider is.
 */
export interface SqsRetryTopologyArgs extends Asked<"sqs"> {
  /**
   * `"explicit"`, unless said otherwise: queues, topics and alarms have the names of the contracts. `"automatic"`: Pulumi adds a random end,
   * so that one declaration may be deployed twice in an account, and a program reads the names and URLs from the outputs.
   */
  readonly naming?: Naming;
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
  /** The name, the URL and the ARN of each consumer's work queue, known as soon as the queue is there. */
  readonly workQueues: Readonly<Record<string, DeployedQueue>>;
  /** The same of its dead queue. */
  readonly deadQueues: Readonly<Record<string, DeployedQueue>>;
  /** The ARN of the topic of each source, for its publishers. */
  readonly topics: Readonly<Record<string, pulumi.Output<string>>>;

  /** What the last update left on the broker, since messages may be in it: queues that nothing declares any more. */
  readonly left: pulumi.Output<readonly LeftBehind[]>;

  constructor(name: string, args: SqsRetryTopologyArgs, opts?: pulumi.ComponentResourceOptions) {
    const { system, target, compiled, warnings } = acceptOrRefuse("sqs", name, args);
    const { region } = target;
    const { naming = "explicit", alarmActions = [] } = args;
    const problems = naming === "automatic" ? diagnoseAutomaticNames(compiled.topology, name) : [];
    if (problems.length > 0) throw refusal(name, problems);
    const guard = guardChange({ type: "SqsRetryTopology", name, system, target, compiled }, opts);
    super("redeliver:sqs:RetryTopology", name, inputsOf(system, { ...target }, args), guard.options);
    showWarnings(warnings, this);
    warnOfOtherRegion(this, region);
    const deployed = deploySqs(compiled.topology, { name, naming, parent: this, region, alarmActions });
    this.contracts = compiled.contracts;
    this.workQueues = deployed.workQueues;
    this.deadQueues = deployed.deadQueues;
    this.topics = deployed.topics;
    this.left = leftOf(this, guard);
    this.registerOutputs({ ...summarise(system, compiled), left: this.left, taken: takenOf(this, guard) });
  }
}

/** Nothing goes wrong by it, but whoever looks for the queues where the rest of the program is finds none. */
function warnOfOtherRegion(component: pulumi.ComponentResource, region: string): void {
  const provider = component.getProvider("aws:sqs/queue:Queue") as
    | { readonly region?: pulumi.Input<string> }
    | undefined;
  const own = provider === undefined ? new pulumi.Config("aws").get("region") : provider.region;
  pulumi.output(own).apply((other) => {
    if (other === undefined || other === region) return;
    const warning = diagnostic("RD624", {
      path: "target.region",
      message: `the provider is for ${other}; everything is made in ${region}`,
      value: region,
      notes: ["the target's region is written on every resource, whatever the provider's is"],
      help: `give the component a provider for ${region}, or change the target`,
    });
    showWarnings([warning], component);
  });
}
