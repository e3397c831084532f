import type { Topology } from "../topology.ts";
import type { HeaderValue } from "./message-state.ts";

/** Any JSON value by its argument name. */
export type Arguments = Readonly<Record<string, HeaderValue>>;

export type QueueKind = "classic" | "quorum" | "stream";
export type ExchangeKind = "direct" | "fanout" | "topic" | "headers";

export interface BrokerExchange {
  readonly name: string;
  readonly kind: ExchangeKind;
  readonly arguments: Arguments;
  /** Set where the source does not tell how it routes, so that the kind is the likeliest one. */
  readonly isGuessed?: true;
}

export interface BrokerQueue {
  readonly name: string;
  /** From `x-queue-type`, or the default type of the virtual host. */
  readonly kind: QueueKind;
  readonly arguments: Arguments;
}

export interface BrokerBinding {
  readonly source: string;
  readonly destination: string;
  readonly destinationKind: "queue" | "exchange";
  readonly routingKey: string;
  readonly arguments: Arguments;
}

export type PolicyScope = "all" | "exchanges" | "queues" | "classic_queues" | "quorum_queues" | "streams";

export interface BrokerPolicy {
  readonly name: string;
  /** A user's policy, or an operator's, which is merged over it. */
  readonly kind: "user" | "operator";
  /** A regular expression, which matches anywhere in a name. */
  readonly pattern: string;
  readonly applyTo: PolicyScope;
  readonly priority: number;
  readonly definition: Arguments;
}

/** What there is in one virtual host, whoever made it. */
export interface BrokerTopology {
  readonly exchanges: readonly BrokerExchange[];
  readonly queues: readonly BrokerQueue[];
  readonly bindings: readonly BrokerBinding[];
  readonly policies: readonly BrokerPolicy[];
}

/** What is in force for one queue, after arguments, policy and operator policy are merged and senseless values ignored. */
export interface EffectiveSettings {
  readonly queue: string;
  readonly kind: QueueKind;
  /** The user policy and the operator policy that apply; null for none. */
  readonly policy: string | null;
  readonly operatorPolicy: string | null;
  readonly deadLetterExchange: string | null;
  readonly deadLetterRoutingKey: string | null;
  /** What is really done: at-least-once only where every condition for it holds. */
  readonly deadLetterStrategy: "at-most-once" | "at-least-once";
  readonly overflow: "drop-head" | "reject-publish" | "reject-publish-dlx";
  /** A message with more failures than this is given up; null for never. */
  readonly deliveryLimit: number | null;
  readonly messageTtlMs: number | null;
  /** The queue is deleted after not being used for so long. */
  readonly expiresMs: number | null;
  readonly maxLength: number | null;
  readonly maxLengthBytes: number | null;
  /** Null where delayed retry is off, also because an argument for it makes no sense. */
  readonly delayedRetry: DelayedRetry | null;
  /** Arguments and policy keys that are there and do nothing, each with the reason. */
  readonly ignored: readonly IgnoredSetting[];
}

export interface DelayedRetry {
  readonly returns: "all" | "failed" | "returned";
  readonly minMs: number;
  readonly maxMs: number;
}

export interface IgnoredSetting {
  readonly key: string;
  readonly from: "argument" | "policy" | "operator-policy";
  readonly why: "wrong-type" | "unknown-to-version" | "not-for-queue-type" | "overridden" | "needs-another-setting";
}

/** The topology that the compiler made, as the broker has it. */
export function brokerTopologyOf(
  topology: Pick<Topology, "exchanges" | "queues" | "bindings" | "policies">,
): BrokerTopology {
  return Object.freeze({
    exchanges: topology.exchanges.map(({ name, kind, arguments: given }) => ({ name, kind, arguments: given })),
    queues: topology.queues.map(({ name, arguments: given }) => ({
      name,
      kind: queueKindOf(given, "classic"),
      arguments: given,
    })),
    bindings: topology.bindings.map(({ source, destination, destinationKind, routingKey, arguments: given }) => ({
      source,
      destination,
      destinationKind,
      routingKey,
      arguments: given,
    })),
    policies: topology.policies.map(({ name, pattern, applyTo, priority, definition }) => ({
      name,
      kind: "user" as const,
      pattern,
      applyTo,
      priority,
      definition,
    })),
  });
}

/** The type that a queue's arguments ask for, or the default type of its virtual host. */
export function queueKindOf(given: Arguments, defaultKind: QueueKind): QueueKind {
  const kind = given["x-queue-type"];
  return kind === "classic" || kind === "quorum" || kind === "stream" ? kind : defaultKind;
}
