import type { Consuming } from "../consume/port/consuming.ts";
import type { AnyContract } from "../contract/contract.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import type { TargetSide } from "../contract/own-strategy.ts";
import type { Plan } from "../plan/plan.ts";
import type { Subject } from "../explore/model.ts";
import type { InPhase } from "../explore/phases.ts";
import type { Assumed } from "./assumed.ts";
import type { DeployedPart, Leftover } from "./deployed-part.ts";
import type { Adopter } from "./adopter.ts";
import type { Differ } from "./drift.ts";
import type { Migrating, Watched } from "./migrating.ts";
import type { StrategyChoice } from "../contract/choose-strategy.ts";
import type { ContractPages } from "./contract-pages.ts";
import type { StackKeys } from "./stack-keys.ts";
import type { Graph } from "./graph.ts";
import type { KeptPromise } from "../contract/promise.ts";
import type { BrokerRule } from "../policy/rule.ts";
import type { Entry } from "../foreign/entries.ts";
import type { RequestBounds } from "../foreign/request-budget.ts";
import type { BridgedType } from "../foreign/terraform-state.ts";
import type { PulumiResource } from "../foreign/pulumi-resource.ts";
import type { Operating } from "../operate/port.ts";

/** The result of a compiler: frozen plain data with everything that later stages need. */
export interface Compiled<Topology, Contract, Strategy extends string = string> {
  /** The target as on the command line. */
  readonly target: string;
  /** The resources, in the broker's own words. */
  readonly topology: Topology;
  /** The duties of each consumer's code, in the order of the declaration. */
  readonly contracts: readonly Contract[];
  /** Each promise of each consumer, with its keeper. */
  readonly promises: readonly KeptPromise[];
  /** The strategy of each consumer, with the reason. */
  readonly choices: readonly StrategyChoice<Strategy>[];
}

/** The evidence behind a proof: rules compared with a broker, or read in its source. */
export interface Evidence {
  readonly testedLive: boolean;
  /** Half a sentence about the rules, such as `follows the server's source only`. */
  readonly rules: string;
}

/** One request to a running broker: a name for the answer, and a path below the broker's URL. */
export interface LiveRequest {
  readonly name: string;
  readonly path: string;
  /** True if the broker may refuse this to the user. The answer is then left out. */
  readonly isOptional?: true;
}

/** Reads a running broker that answers GET requests. Nothing here does input or output. */
export interface HttpReader<Deployment> {
  readonly kind: "http";
  /** The schemes of URLs that name such a broker. */
  readonly schemes: readonly string[];
  /** The first request, alone: it shows whether a broker answers and lets the user in. */
  readonly greeting: LiveRequest;
  /** @param namespace null for all of them */
  readonly requests: (namespace: string | null) => readonly LiveRequest[];
  /** Checks the answer to the greeting, before the other requests. */
  readonly isGreeting: (text: string) => boolean;
  /** @param answers by the names of the requests, with the greeting */
  readonly read: (answers: ReadonlyMap<string, string>, namespace: string | null) => Checked<Deployment>;
  /** The meaning of an HTTP status other than success. `text` is the body of the answer. */
  readonly refusal: (status: number, text: string, namespace: string | null) => Diagnostic;
  /** The environment variables for the parts that the URL lacks. */
  readonly environment: { readonly user: string; readonly password: string };
  readonly unreachableHelp: string;
}

/** Reads a running broker through its vendor's SDK. */
export interface SdkReader<Deployment> {
  readonly kind: "sdk";
  /** The schemes of URLs that name such a broker. A region or a host follows them. */
  readonly schemes: readonly string[];
  /**
   * Asks the broker with requests that only read. Loads the SDK first, because it is an optional dependency.
   *
   * @param detail the rest of the URL
   * @param endpoint replaces the vendor's own endpoint
   */
  readonly read: (
    detail: string,
    endpoint: string | undefined,
    bounds: Partial<RequestBounds>,
  ) => Promise<Checked<Deployment>>;
}

export type LiveReader<Deployment> = HttpReader<Deployment> | SdkReader<Deployment>;

/** One namespace of a deployment, as a deployment of its own. */
export interface DeploymentPart<Deployment> {
  readonly name: string;
  readonly queues: number;
  readonly deployment: Deployment;
}

/** A file that describes a broker's resources, and the command line's option for it. */
export interface FileReader<Deployment> {
  readonly option: string;
  /** The kind of the file, for the help of the command line. */
  readonly what: string;
  readonly read: (text: string) => Checked<Deployment>;
}

/** A type of resource whose loss can lose messages. */
export interface LosingType {
  /** True if messages lie in it, and false if they only pass through it. */
  readonly holds: boolean;
  /** The effect of its deletion on messages, as a sentence without its end. */
  readonly loss: string;
  /**
   * True if the broker deletes it by itself, so that users do not rely on its content. Also true if that is unknown.
   * Left out if the broker never does.
   */
  readonly isTemporary?: (properties: Entry) => boolean;
  /** The properties that identify it on the broker. A replacement can exist beside it only if one of them differs. */
  readonly identity: readonly string[];
  /**
   * The effect of its deletion on messages in queues that stay, as a sentence without its end. Null for no effect. Left
   * out if its deletion strands no message.
   *
   * @param staying the resources that are on the broker after the update
   */
  readonly strands?: (gone: Entry, staying: readonly StayingResource[]) => string | null;
}

/** A resource that is on the broker after an update. */
export interface StayingResource {
  readonly type: string;
  readonly properties: Entry;
  /** True if the program gives it up in the update, so that it has no owner any more. */
  readonly isLeft: boolean;
}

/** Reads the broker's resources from a Pulumi program: from a stack's state, or as a policy pack sees them. */
export interface ResourceReader<Deployment> {
  /** The types of its resources by their names in Terraform. */
  readonly terraformTypes: Readonly<Record<string, BridgedType>>;
  /** True if the resource belongs to a topology of this broker. A resource of another kind may add details to it. */
  readonly isOwn: (resource: PulumiResource) => boolean;
  /** The type of a resource without the version of an API that a provider may write into it. */
  readonly plainTypeOf: (type: string) => string;
  readonly losingTypes: Readonly<Record<string, LosingType>>;
  /**
   * By plain type, the properties that only the provider knows, after it has made a resource. Properties that Redeliver
   * does not read are left out.
   */
  readonly assigned: Readonly<Record<string, readonly string[]>>;
  /** Without a resource of this type, only unreadable resources can be found. Null if there are several such types. */
  readonly queueType: string | null;
  /** The types of queues that another provider has, and that Redeliver does not read. */
  readonly unreadTypes?: readonly string[];
  /** True if Redeliver reads it. Resources around the broker's own can affect them. */
  readonly isRead: (resource: Pick<PulumiResource, "type">) => boolean;
  /**
   * The place of each resource by URN, as findings write their paths: `["vhosts", "/", "queues", "orders"]`. A resource
   * is left out if its place is unknown, or if no finding concerns such a resource.
   *
   * @param resources those that are read together, because the name of a part depends on the others
   */
  readonly placesOf: (resources: readonly PulumiResource[]) => ReadonlyMap<string, readonly string[]>;
  /**
   * The resources with only certain findings, although a preview does not know all values. It leaves out resources
   * whose findings depend on an unknown value, and fills in values that follow from others.
   *
   * @param resources those that are read
   */
  readonly certain: (resources: readonly PulumiResource[]) => readonly PulumiResource[];
  /** @param resources all resources: those of other brokers are skipped */
  readonly read: (resources: readonly PulumiResource[]) => Checked<Deployment>;
}

/** Judges topologies that Redeliver did not make. */
export interface Auditor<Target, Deployment, System = never, Live = LiveReader<Deployment> | null> {
  readonly file: FileReader<Deployment>;
  readonly resources: ResourceReader<Deployment>;
  /** Null if running brokers cannot be read yet. */
  readonly live: Live;
  /** The noun for a part of a deployment, such as `virtual host`. */
  readonly partNoun: string;
  /** The name of the rules that judge a target, for reports. */
  readonly rulesOf: (target: Target) => string;
  /** The target to use when the input names none: that of the newest version. */
  readonly newestTarget: string;
  /** The target that a deployment names itself, or null. */
  readonly targetOf: (deployment: Deployment) => Checked<Target | null>;
  readonly partsOf: (deployment: Deployment) => readonly DeploymentPart<Deployment>[];
  /** @param upgradeTo if given, the audit reports the differences on that target */
  readonly audit: (deployment: Deployment, target: Target, upgradeTo: Target | null) => readonly Diagnostic[];
  /**
   * The resources that a system has left there, in an order in which they can be removed. Earlier declarations name
   * those that nothing else tells. Those of other systems are left out, with the ways into their queues.
   */
  readonly leftoversIn: (
    deployment: Deployment,
    compiled: System,
    earlier?: readonly System[],
    others?: readonly System[],
  ) => readonly Leftover[];
}

/** A system before or after a change, and its target. */
export interface ChangeSide<System, Target> {
  readonly compiled: System;
  readonly target: Target;
}

/** The interface of a broker's folder to the rest of Redeliver. */
export interface Broker<
  Target,
  TargetInput,
  System extends Compiled<unknown, AnyContract>,
  State,
  Deployment,
  Connection,
> {
  readonly title: string;
  /** A target that stands for most users, as on the command line. */
  readonly exampleTarget: string;
  readonly strategyNames: readonly string[];
  /** @param detail the text after the `@`: a version, a region */
  readonly parseTarget: (detail: string, strategy?: string) => Checked<Target>;
  /** Checks a target that was written as data. A checked target comes back as it is. */
  readonly checkTarget: (input: TargetInput | Target) => Checked<Target>;
  readonly formatTarget: (target: Target) => string;
  /** A checked target as a person writes it. Left out if that is the same. */
  readonly asWritten?: (target: Target) => TargetInput;
  /** Stands between the parts of its default names. */
  readonly separator: "." | "-";
  /** The target of one consumer alone, without the settings of others. */
  readonly targetFor: (target: Target, consumer: string) => Target;
  /** The target with the settings of single consumers under other names. */
  readonly targetUnder: (target: Target, nameOf: (consumer: string) => string) => Target;
  /** The target for old consumers beside new ones, if their queues can differ by it. Left out if they cannot. */
  readonly targetBeside?: (beside: Target, sides: readonly TargetSide<Target>[]) => Target;
  /**
   * The target for a system that is deployed over one for an older target, if queues have to keep parts of that one. Left
   * out if they never have to.
   */
  readonly targetOver?: (old: Target, next: Target) => Target;
  /** True if a broker as the first target names it has to be upgraded for the second one. Left out without versions. */
  readonly isOlder?: (one: Target, other: Target) => boolean;
  /** The place of its resources that the target names: a region. Left out if targets name none. */
  readonly placeOf?: (target: Target) => string;
  /** The exchanges that lead letters on by the names of their work queues. Left out without exchanges. */
  readonly letterExchanges?: (compiled: System) => readonly string[];
  /**
   * True if a deployment can give a work queue another dead queue. Old dead letters follow, or stay where people find
   * them. Left out if some would stay without a reader, or go to both.
   */
  readonly changesDeadQueue?: true;
  readonly compile: (plan: Plan, target: Target) => Checked<System>;
  /** Left out if its targets name nothing that others own and that a proof depends on. */
  readonly assumedIn?: (compiled: System, target: Target) => Assumed<System>;
  readonly graphOf: (compiled: System) => Graph;
  /** The parts of a system on the broker, for a comparison with the deployed ones. */
  readonly deployedPartsOf: (compiled: System) => readonly DeployedPart[];
  /** Each consumer as the explorer needs it. A consumer with nothing to prove is left out. */
  readonly subjectsOf: (compiled: System, target: Target) => readonly Subject<State>[];
  /** Each consumer that keeps its work queue in a change, with messages in every place. */
  readonly changesOf: (
    from: ChangeSide<System, Target>,
    to: ChangeSide<System, Target>,
  ) => readonly Subject<InPhase<State>>[];
  readonly evidenceOf: (target: Target) => Evidence;
  /** File formats of the broker's own tools, by their names on the command line. */
  readonly exportFormats: Readonly<Record<string, (compiled: System, namespace: string | null) => unknown>>;
  /** Warns of parts of a system that a format loses or changes. Left out if every format holds everything. */
  readonly diagnoseExport?: (compiled: System, format: string) => readonly Diagnostic[];
  /** Loaded when a contract is written as a page for other languages. */
  readonly loadContractPages: () => Promise<ContractPages<System["contracts"][number]>>;
  readonly consuming: Consuming<System, TargetInput, Connection>;
  /** Left out if it cannot judge foreign topologies yet. */
  readonly auditor?: Auditor<Target, Deployment, System>;
  /** Left out if it cannot infer declarations yet. */
  readonly adopter?: Adopter<Target, Deployment, System>;
  /** Compares its deployments with declarations. */
  readonly differ: Differ<Target, Deployment, System, State, LiveReader<Deployment>>;
  /** Left out if it cannot watch a migration yet. */
  readonly migrating?: Migrating<System, Deployment, LiveReader<readonly Watched[]>>;
  /** Loaded when somebody operates dead letters. Left out if Redeliver cannot do that on this broker yet. */
  readonly loadOperating: () => Promise<Operating>;
  /** The packages that `loadOperating` imports, which are optional. */
  readonly operatingPackages: readonly string[];
  /** The default place of resources on the broker: RabbitMQ's virtual host. Null if the broker has none. */
  readonly defaultNamespace: string | null;
  /** Its rules of the policy pack, by the names under which the package exports them, in the order of pages. */
  readonly rules: Readonly<Record<string, BrokerRule>>;
  /** The configuration of a Pulumi stack that deploys to it. */
  readonly stack: StackKeys;
}
