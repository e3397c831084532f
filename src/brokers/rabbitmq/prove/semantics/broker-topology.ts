import type { ForeignPolicy } from "../../compile/foreign-policies.ts";
import type { BindingResource, Topology } from "../../compile/topology.ts";
import type { HeaderValue } from "./message-state.ts";

/** Any JSON value by its argument name. */
export type Arguments = Readonly<Record<string, HeaderValue>>;

export type QueueKind = "classic" | "quorum" | "stream";
export type ExchangeKind = "direct" | "fanout" | "topic" | "headers";

export interface BrokerExchange {
  readonly name: string;
  readonly kind: ExchangeKind;
  readonly arguments: Arguments;
  /** The events that delete it, apart from a person's command; left out if there are none. */
  readonly goesWith?: readonly ("restart" | "last-binding")[];
  /** Set if the broker refuses publishes to it. Source: `rabbit_channel:check_internal_exchange/1` (4.3.5). */
  readonly isInternal?: true;
  /** The type that a plugin adds, if it is none of the four kinds. */
  readonly pluginType?: string;
  /** Set if the source does not name its way of routing. The kind is then the likeliest one. */
  readonly isGuessed?: true;
}

export interface BrokerQueue {
  readonly name: string;
  /** From `x-queue-type`, or the default type of the virtual host. */
  readonly kind: QueueKind;
  readonly arguments: Arguments;
  /**
   * The events that delete it with its messages, apart from a person's command; left out if there are none. A restart
   * of the node deletes a queue that is not durable. The end of the last consumer deletes an auto-delete queue, and the
   * end of its connection an exclusive one.
   */
  readonly goesWith?: readonly QueueEnd[];
}

export type QueueEnd = "restart" | "last-consumer" | "connection";

export interface BrokerBinding extends Omit<BindingResource, "arguments"> {
  readonly arguments: Arguments;
  /** The broker's own name for its key and arguments. A running broker gives it, and an export does not. */
  readonly propertiesKey?: string;
}

export type PolicyScope = ForeignPolicy["applyTo"];

export interface BrokerPolicy extends Omit<ForeignPolicy, "definition"> {
  readonly definition: Arguments;
}

/** The topology of one virtual host, made by Redeliver or not. */
export interface BrokerTopology {
  readonly exchanges: readonly BrokerExchange[];
  readonly queues: readonly BrokerQueue[];
  readonly bindings: readonly BrokerBinding[];
  readonly policies: readonly BrokerPolicy[];
}

/**
 * The settings in force for one queue: arguments, policy and operator policy merged, without the values that the broker
 * ignores.
 */
export interface EffectiveSettings {
  readonly queue: string;
  readonly kind: QueueKind;
  /** The user policy and the operator policy that apply; null for none. */
  readonly policy: string | null;
  readonly operatorPolicy: string | null;
  readonly deadLetterExchange: string | null;
  readonly deadLetterRoutingKey: string | null;
  /** The strategy that the broker really uses: at-least-once only if every condition for it holds. */
  readonly deadLetterStrategy: "at-most-once" | "at-least-once";
  readonly overflow: "drop-head" | "reject-publish" | "reject-publish-dlx";
  /** A message with more failures than this is given up; null for no limit. */
  readonly deliveryLimit: number | null;
  readonly messageTtlMs: number | null;
  /** The broker deletes the queue after this time without use. */
  readonly expiresMs: number | null;
  readonly maxLength: number | null;
  readonly maxLengthBytes: number | null;
  /** Null if delayed retry is off, also if an invalid argument turns it off. */
  readonly delayedRetry: DelayedRetry | null;
  /** The events that delete the queue with its messages. */
  readonly goesWith: readonly QueueEnd[];
  /** Arguments and policy keys without effect, each with the reason. */
  readonly ignored: readonly IgnoredSetting[];
}

/** True if the queue has a limit on its length, so that it can be full. */
export function isBounded({ maxLength, maxLengthBytes }: EffectiveSettings): boolean {
  return (maxLength ?? maxLengthBytes) !== null;
}

export function dropsHead(settings: EffectiveSettings): boolean {
  return settings.overflow === "drop-head" && isBounded(settings);
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

/** Converts a compiled topology into the broker's view of it. */
export function brokerTopologyOf(
  topology: Pick<Topology, "exchanges" | "queues" | "bindings" | "policies" | "assumed">,
): BrokerTopology {
  return Object.freeze({
    exchanges: topology.exchanges.map(({ name, kind, pluginType, arguments: given }) => {
      return { name, kind, arguments: given, ...(pluginType === undefined ? {} : { pluginType }) };
    }),
    queues: topology.queues.map(({ name, arguments: given }): BrokerQueue => {
      const kind = given["x-queue-type"];
      return { name, kind: kind === "quorum" || kind === "stream" ? kind : "classic", arguments: given };
    }),
    bindings: topology.bindings,
    policies: [
      ...topology.policies.map((policy) => ({ ...policy, kind: "user" as const })),
      ...(topology.assumed?.policies ?? []),
    ],
  });
}
