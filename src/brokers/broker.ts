import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Plan } from "../plan/plan.ts";
import type { Subject } from "../explore/model.ts";
import type { Entry } from "./entries.ts";
import type { PulumiResource } from "./pulumi-resource.ts";

/** Who keeps a promise. */
export type Keeper = "broker" | "consumer" | "nobody";

export type PromiseName =
  | "no-loss"
  | "no-loop"
  | "attempts"
  | "crash"
  | "timing"
  | "isolation"
  | "permanent"
  | "return"
  /** That every attempt is a run of the handler. */
  | "exact-attempts"
  | "order"
  | "handler-timeout"
  | "retention"
  | "alarm";

/** One thing that the declaration asks for, and who keeps it. */
export interface KeptPromise {
  readonly consumer: string;
  readonly promise: PromiseName;
  readonly keeper: Keeper;
  /** What is kept, with its numbers. */
  readonly statement: string;
}

/** Which strategy a consumer got, and why not another. */
export interface StrategyChoice<Strategy extends string = string> {
  readonly consumer: string;
  readonly strategy: Strategy;
  readonly reason: string;
  readonly passedOver: readonly { readonly strategy: Strategy; readonly reason: string }[];
}

/** What a compiler returns: everything that the later stages need, as frozen plain data. */
export interface Compiled<Topology, Contract, Strategy extends string = string> {
  /** The target as it is written on the command line. */
  readonly target: string;
  readonly topology: Topology;
  readonly contracts: readonly Contract[];
  readonly promises: readonly KeptPromise[];
  readonly choices: readonly StrategyChoice<Strategy>[];
}

/** A way in which a strategy cannot keep what is declared. */
export interface Objection {
  /** A fact about the declaration and the strategy, with numbers. */
  readonly reason: string;
  /** The field that asks for it, below the consumer. */
  readonly path: readonly string[];
}

/** A place where messages are, as a person would draw it. Exchanges are not drawn: the arrows go through them. */
export interface GraphNode {
  readonly id: string;
  readonly kind: "source" | "work" | "tier" | "dead" | "instance";
  readonly label: string;
  /** One more line, such as the delay of a tier. */
  readonly detail?: string;
  /** The queues that are drawn as this one place, since nothing tells them apart in a picture. */
  readonly joined?: readonly string[];
  /** The consumer it belongs to; null for what consumers share. */
  readonly consumer: string | null;
}

/** What moves a message from one place to another. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  readonly kind: "publish" | "retry" | "due" | "dead";
  readonly consumer: string | null;
}

export interface Graph {
  readonly title: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** What a proof rests on: rules that were compared with a broker, or read in its source. */
export interface Evidence {
  readonly testedLive: boolean;
  /** Half a sentence about the rules, such as `follows the server's source only`. */
  readonly rules: string;
}

/** One answer of a running broker that has to be asked for: what the answer is, and a path below the broker's URL. */
export interface LiveRequest {
  readonly name: string;
  readonly path: string;
}

/** How a running broker is read that answers GET requests. Nothing here does input or output. */
export interface HttpReader<Deployment> {
  readonly kind: "http";
  /** How URLs begin that name such a broker. */
  readonly schemes: readonly string[];
  /** Asked first, by itself: whether a broker answers, and lets the user in. */
  readonly greeting: LiveRequest;
  /** @param namespace null for all of them */
  readonly requests: (namespace: string | null) => readonly LiveRequest[];
  /** Reads the greeting alone, which is there before the requests are made. */
  readonly isGreeting: (text: string) => boolean;
  /** @param answers by the names of the requests, the greeting among them */
  readonly read: (answers: ReadonlyMap<string, string>, namespace: string | null) => Checked<Deployment>;
  /** What an HTTP status other than success means; `text` is the body of the answer. */
  readonly refusal: (status: number, text: string, namespace: string | null) => Diagnostic;
  /** The environment variables that hold what is not in the URL. */
  readonly environment: { readonly user: string; readonly password: string };
  readonly unreachableHelp: string;
}

/** How a running broker is read that is asked through the SDK of AWS. Nothing here does input or output. */
export interface AnswerReader<Deployment> {
  readonly kind: "aws";
  /** How URLs begin that name such a broker; the detail of a target is behind it. */
  readonly schemes: readonly string[];
  /** @param answers as the SDK gives them, in any order */
  readonly read: (answers: readonly unknown[]) => Checked<Deployment>;
}

/** How a running broker is read, by what it is asked with. */
export type LiveReader<Deployment> = HttpReader<Deployment> | AnswerReader<Deployment>;

/** A namespace of a deployment, with a deployment that holds nothing else. */
export interface DeploymentPart<Deployment> {
  readonly name: string;
  readonly queues: number;
  readonly deployment: Deployment;
}

/** A file in which people have what a broker holds, and the option of the command line that names one. */
export interface FileReader<Deployment> {
  readonly option: string;
  /** What the file is, for the help of the command line. */
  readonly what: string;
  readonly read: (text: string) => Checked<Deployment>;
}

/** A kind of resource that messages are lost with. */
export interface LosingType {
  /** Whether messages lie in it, or only pass through it. */
  readonly holds: boolean;
  /** What happens to messages when it is deleted, as a sentence without its end. */
  readonly loss: string;
  /** Whether it is made to go by itself, so that nobody counts on what is in it; also where that is not known. */
  readonly isTemporary: (properties: Entry) => boolean;
  /** The properties that are its identity on the broker: without a change to them a second one cannot be made beside it. */
  readonly identity: readonly string[];
  /**
   * What its deletion does to messages in queues that stay there all the same, as a sentence without its end; null where that is nothing.
   * Left out where its deletion strands no message.
   *
   * @param staying what is on the broker after the update
   */
  readonly strands?: (gone: Entry, staying: readonly StayingResource[]) => string | null;
}

/** A resource that is on the broker after an update. */
export interface StayingResource {
  readonly type: string;
  readonly properties: Entry;
  /** Whether the program gives it up in the update, so that nobody looks after it any more. */
  readonly isLeft: boolean;
}

/** What resources of a Pulumi program make on the broker: those of a stack's state, or those that a policy pack is shown. */
export interface ResourceReader<Deployment> {
  /** Whether the resource makes a topology of this broker; others may say more about it. */
  readonly isOwn: (resource: PulumiResource) => boolean;
  /** The type of a resource without the version of an API that a provider may write into it. */
  readonly plainTypeOf: (type: string) => string;
  /** What messages are lost with, by plain type. */
  readonly losingTypes: Readonly<Record<string, LosingType>>;
  /** The properties that only the provider tells, and only when it has made a resource: as far as they are read, by plain type. */
  readonly assigned: Readonly<Record<string, readonly string[]>>;
  /** Without a resource of this type nothing is found but that something cannot be read; null where there are several such types. */
  readonly queueType: string | null;
  /** Whether it is read at all: what is around the broker's own resources can decide about them. */
  readonly isRead: (resource: Pick<PulumiResource, "type">) => boolean;
  /**
   * Where each resource is, as the paths of findings say it: `["vhosts", "/", "queues", "orders"]`. By URN; left out where it is not told,
   * and where findings do not speak of such a resource.
   *
   * @param resources those that are read together: what a part of them is called depends on the others
   */
  readonly placesOf: (resources: readonly PulumiResource[]) => ReadonlyMap<string, readonly string[]>;
  /**
   * Those about which everything that is found is certain, though a preview does not know all values: what an unknown value could make
   * different is left out, and what can be told in its place is put in.
   *
   * @param resources those that are read
   */
  readonly certain: (resources: readonly PulumiResource[]) => readonly PulumiResource[];
  /** @param resources all that there are: those of other brokers are passed over */
  readonly read: (resources: readonly PulumiResource[]) => Checked<Deployment>;
}

/** What is needed to judge topologies that Redeliver did not make. */
export interface Auditor<Target, Deployment, System = never, Live = LiveReader<Deployment> | null> {
  readonly file: FileReader<Deployment>;
  readonly resources: ResourceReader<Deployment>;
  /** Null where running brokers are not read yet. */
  readonly live: Live;
  /** What a part of a deployment is, such as `virtual host`. */
  readonly partNoun: string;
  /** By whose rules a target is judged, as a report says it. */
  readonly rulesOf: (target: Target) => string;
  /** By whose rules is judged what nothing tells the target of: those of the newest version. */
  readonly newestTarget: string;
  /** The target that a deployment names itself; null where it does not. */
  readonly targetOf: (deployment: Deployment) => Checked<Target | null>;
  readonly partsOf: (deployment: Deployment) => readonly DeploymentPart<Deployment>[];
  /** @param upgradeTo what is asked then is what would be different there */
  readonly audit: (deployment: Deployment, target: Target, upgradeTo: Target | null) => readonly Diagnostic[];
  /** What a system has left there, in an order in which it can be removed. */
  readonly leftoversIn: (deployment: Deployment, compiled: System) => readonly Leftover[];
}

/** Something that is deployed under a name that others know. */
export interface DeployedPart {
  /** What the broker calls it: `queue`, `exchange`, `topic`, `subscription`. */
  readonly kind: string;
  /** Its name among those of its kind. */
  readonly name: string;
  /** The consumer it belongs to; null for what consumers share. */
  readonly consumer: string | null;
  /** The messages that lie in it; null where they only pass through. */
  readonly holds: "work" | "waiting" | "dead" | null;
  /** How long a message waits in it at most; null where that has no end. */
  readonly longestWaitMs: number | null;
  /** What cannot be changed as long as it is there. */
  readonly fixed: Readonly<Record<string, string | number | boolean>>;
}

/** Something on a broker that bears the system's name and that nothing declares any more. */
export interface Leftover extends Pick<DeployedPart, "kind" | "name" | "holds" | "longestWaitMs"> {
  /** The virtual host, the region or the namespace that it is in. */
  readonly place: string;
  /** Requests or commands that remove it with all that leads into it, in this order. */
  readonly removal: readonly string[];
}

/** What every broker folder offers to the rest of Redeliver. */
export interface Broker<Target, TargetInput, System extends Compiled<unknown, unknown>, State, Deployment> {
  readonly title: string;
  readonly strategyNames: readonly string[];
  /** @param detail what stands after the @: a version, a region */
  readonly parseTarget: (detail: string, strategy?: string) => Checked<Target>;
  /** Checks a target that was written as data; one that was checked before comes back as it is. */
  readonly checkTarget: (input: TargetInput | Target) => Checked<Target>;
  readonly formatTarget: (target: Target) => string;
  /** The target of one consumer alone, without what it says of others; left out where a target says nothing of single consumers. */
  readonly targetFor?: (target: Target, consumer: string) => Target;
  readonly compile: (plan: Plan, target: Target) => Checked<System>;
  readonly graphOf: (compiled: System) => Graph;
  /** What a system is made of on the broker, to compare it with what is deployed. */
  readonly deployedPartsOf: (compiled: System) => readonly DeployedPart[];
  /** Each consumer as the explorer wants it; a consumer with nothing to prove is left out. */
  readonly subjectsOf: (compiled: System, target: Target) => readonly Subject<State>[];
  readonly evidenceOf: (target: Target) => Evidence;
  /** File formats of the broker's own tools, by the name used on the command line. */
  readonly exportFormats: Readonly<Record<string, (compiled: System, namespace: string | null) => unknown>>;
  /** What of a system a format cannot say, or says otherwise; left out where every format says everything. */
  readonly diagnoseExport?: (compiled: System, format: string) => readonly Diagnostic[];
  /** Left out where the topologies of others cannot be judged yet. */
  readonly auditor?: Auditor<Target, Deployment, System>;
  /** Where resources live on the broker unless said otherwise: RabbitMQ's virtual host. Null where there is nothing like it. */
  readonly defaultNamespace: string | null;
}
