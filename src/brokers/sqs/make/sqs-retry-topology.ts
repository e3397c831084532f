import * as pulumi from "@pulumi/pulumi";

import type { CompiledSystem } from "../../index.ts";
import { type DeployedQueue, type Naming, deploySqs, diagnoseAutomaticNames } from "./deploy.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import { type Asked, acceptOrRefuse, inputsOf, refusal, showWarnings, summarise } from "../../../deploy/accept.ts";
import { type LeftBehind, guardChange, leftOf, rememberedOf } from "../../../deploy/guard-change.ts";
import { withShortStacks } from "../../../deploy/with-short-stacks.ts";

/**
 * The arguments that decide the topology are plain, because they must be known before any resource is created, in a
 * preview too. Only wiring may be an output of another resource. The target is for example `{ broker: "sqs", region:
 * "eu-west-1" }`. All resources are created in that region, even if the provider has another.
 */
export interface SqsRetryTopologyArgs extends Asked<"sqs"> {
  /**
   * The default is `"explicit"`: queues, topics and alarms have the names of the contracts. With `"automatic"` Pulumi
   * adds a random end, so that one account may hold two deployments of a declaration. A program then reads the names
   * and URLs from the outputs.
   */
  readonly naming?: Naming;
  /** The ARNs that every alarm notifies when it fires, such as a topic with subscribers. */
  readonly alarmActions?: readonly pulumi.Input<string>[];
}

/**
 * All resources at AWS that the consumers of a declaration need to retry: queues with their policies, topics,
 * subscriptions, alarms.
 *
 * The declaration and the target are inputs of the component, so they are in the state and policies can judge them. The
 * component shows the warnings of the compiler.
 *
 * @throws pulumi.RunError with the rendered diagnostics, before any resource is registered, if the declaration or the
 *   target is refused
 */
export class SqsRetryTopology extends pulumi.ComponentResource {
  /** For each consumer, the duties of its code that make the promises hold. */
  readonly contracts: CompiledSystem<"sqs">["contracts"];
  /** The name, the URL and the ARN of each consumer's work queue, known as soon as the queue exists. */
  readonly workQueues: Readonly<Record<string, DeployedQueue>>;
  /** The same for its dead queue. */
  readonly deadQueues: Readonly<Record<string, DeployedQueue>>;
  /** The ARN of the topic of each source, for its publishers. */
  readonly topics: Readonly<Record<string, pulumi.Output<string>>>;

  /**
   * The queues that the last update left on the broker, because they may hold messages. They are no longer declared.
   */
  readonly left: pulumi.Output<readonly LeftBehind[]>;

  constructor(name: string, args: SqsRetryTopologyArgs, opts?: pulumi.ComponentResourceOptions) {
    const accepted = acceptOrRefuse("sqs", name, args);
    const { system, target, compiled, warnings } = accepted;
    const { region } = target;
    const { naming = "explicit", alarmActions = [] } = args;
    const problems = naming === "automatic" ? diagnoseAutomaticNames(compiled.topology, target, name) : [];
    if (problems.length > 0) throw refusal(name, problems);
    const guard = guardChange({ type: "SqsRetryTopology", name, to: accepted }, opts);
    super("redeliver:sqs:RetryTopology", name, inputsOf(system, { ...target }, args), guard.options);
    showWarnings(warnings, this);
    warnOfOtherRegion(this, region);
    const deployed = withShortStacks(() =>
      deploySqs(compiled.topology, { name, naming, parent: this, region, alarmActions }),
    );
    this.contracts = compiled.contracts;
    this.workQueues = deployed.workQueues;
    this.deadQueues = deployed.deadQueues;
    this.topics = deployed.topics;
    this.left = leftOf(this, guard);
    this.registerOutputs({ ...summarise(accepted), left: this.left, ...rememberedOf(this, guard) });
  }
}

/** This does no harm, but a user who looks for the queues in the region of the other resources finds none. */
function warnOfOtherRegion(component: pulumi.ComponentResource, region: string): void {
  const provider = component.getProvider("aws:sqs/queue:Queue") as
    | { readonly region?: pulumi.Input<string> }
    | undefined;
  const own = provider === undefined ? new pulumi.Config("aws").get("region") : provider.region;
  pulumi.output(own).apply((other) => {
    if (other === undefined || other === region) return;
    const warning = diagnostic("RD624", {
      path: "target.region",
      message: `the provider is for ${other}; Redeliver makes everything in ${region}`,
      value: region,
      notes: ["Redeliver writes the target's region on every resource, and ignores the provider's"],
      help: `give the component a provider for ${region}, or change the target`,
    });
    showWarnings([warning], component);
  });
}
