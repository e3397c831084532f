import * as pulumi from "@pulumi/pulumi";

import { type CompiledSystem, brokers } from "../../index.ts";
import { type Answer, askBroker } from "./ask-broker.ts";
import { deployRabbitmq } from "./deploy.ts";
import { type Part, checkShared, consumersPart, isOwnOf, kindOf, sharedIn, systemOf } from "./part.ts";
import { registered } from "./resources.ts";
import type { System } from "../../../declare/system.ts";
import { type Asked, acceptOrRefuse, inputsOf, showWarnings, summarise } from "../../../deploy/accept.ts";
import { type LeftBehind, guardChange, leftOf, rememberedOf } from "../../../deploy/guard-change.ts";
import { withShortStacks } from "../../../deploy/with-short-stacks.ts";

/**
 * The arguments that decide the topology are plain, because they must be known before any resource is created, in a
 * preview too. Only wiring may be an output of another resource. The target is for example `{ broker: "rabbitmq",
 * version: "4.3" }`.
 */
export interface RetryTopologyArgs extends Asked<"rabbitmq"> {
  /** The virtual host, which must exist. The default is the broker's own, `/`. */
  readonly vhost?: pulumi.Input<string>;
  /**
   * True for a component whose resources came from the file of `redeliver adopt --import`. It then writes arguments in the
   * form that the provider reads back, so that nothing is replaced. Never change it afterwards: Pulumi would plan to
   * replace each queue. The default is false.
   */
  readonly imported?: boolean;
  /**
   * The part of the system that this stack deploys, if its consumers have several owners. One stack deploys `"shared"`
   * first. Each other stack names its consumers, and has the output `shared` of that one. The default is all of it.
   */
  readonly part?: Part;
}

/**
 * All resources on the broker that the consumers of a declaration need to retry: exchanges, queues, policies, bindings.
 *
 * The declaration and the target are inputs of the component, so they are in the state and policies can judge them. The
 * component shows the warnings of the compiler.
 *
 * @throws pulumi.RunError with the rendered diagnostics, before any resource is registered, if the declaration or the
 *   target is refused
 */
export class RetryTopology extends pulumi.ComponentResource {
  /** For each consumer, the duties of its code that make the promises hold. */
  readonly contracts: CompiledSystem<"rabbitmq">["contracts"];
  /** The name of each consumer's work queue, known as soon as the queue exists. */
  readonly workQueues: Readonly<Record<string, pulumi.Output<string>>>;

  /**
   * The queues that the last update left on the broker, because they may hold messages. They are no longer declared.
   */
  readonly left: pulumi.Output<readonly LeftBehind[]>;
  /**
   * The resources that belong to no single consumer, once all of them are there. A stack with a part of the consumers
   * checks them. Empty unless the part is `shared`.
   */
  readonly shared: pulumi.Output<readonly string[]>;

  constructor(name: string, args: RetryTopologyArgs, opts?: pulumi.ComponentResourceOptions) {
    const part = consumersPart(name, args.part);
    const narrow = part === null ? undefined : (all: System): System => systemOf(name, all, part);
    const accepted = acceptOrRefuse("rabbitmq", name, args, narrow);
    const { system, target, compiled, warnings } = accepted;
    if (part !== null) checkShared(name, compiled.topology, part);
    const namespace = args.vhost ?? brokers.rabbitmq.defaultNamespace ?? "/";
    let present: Answer["present"] = null;
    const ask = async (): Promise<Answer["problems"]> => {
      const answer = await askBroker(this.getProvider("rabbitmq:index:Queue"), target, namespace);
      ({ present } = answer);
      return answer.problems;
    };
    const isOwn = isOwnOf(args.part, accepted.whole);
    const guard = guardChange({ type: "RetryTopology", name, to: accepted, ask, isOwn }, opts);
    super(
      "redeliver:index:RetryTopology",
      name,
      inputsOf(system, { ...args.target, strategy: target.strategy }, args, kindOf(args.part)),
      guard.options,
    );
    showWarnings(warnings, this);
    const deployed = withShortStacks(() =>
      deployRabbitmq(compiled.topology, {
        name,
        parent: this,
        namespace,
        // The component is registered after the broker's answer.
        isNew: registered(this).then(() => (named: string) => present !== null && !present.has(named)),
        areImported: args.imported ?? false,
        part: args.part,
      }),
    );
    this.contracts = compiled.contracts;
    this.workQueues = deployed.workQueues;
    this.left = leftOf(this, guard);
    // After a failed update the engine keeps the output of the last one only if this one has no value.
    const made = pulumi.all(args.part === "shared" ? deployed.made.map(({ urn }) => urn) : []);
    this.shared = made.apply(() => (args.part === "shared" ? sharedIn(compiled.topology) : []));
    this.registerOutputs({
      ...summarise(accepted),
      left: this.left,
      ...rememberedOf(this, guard),
    });
  }
}
