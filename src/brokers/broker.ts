import type { Checked } from "../diagnostics/diagnostic.ts";
import type { Plan } from "../plan/plan.ts";
import type { Model } from "./model.ts";

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

/** What every broker folder offers to the rest of Redeliver. */
export interface Broker<Target, System extends Compiled<unknown, unknown>, State> {
  readonly title: string;
  readonly strategyNames: readonly string[];
  readonly parseTarget: (version: string, strategy?: string) => Checked<Target>;
  readonly formatTarget: (target: Target) => string;
  readonly compile: (plan: Plan, target: Target) => Checked<System>;
  readonly graphOf: (compiled: System) => Graph;
  /** Each consumer as the explorer wants it; a consumer with nothing to prove is left out. */
  readonly modelsOf: (compiled: System, target: Target) => readonly Model<State>[];
  /** File formats of the broker's own tools, by the name used on the command line. */
  readonly exportFormats: Readonly<Record<string, (compiled: System, namespace: string) => unknown>>;
  /** Where resources live on the broker unless said otherwise: RabbitMQ's virtual host. */
  readonly defaultNamespace: string;
}
