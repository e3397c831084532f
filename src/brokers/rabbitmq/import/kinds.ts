import type { BrokerExchange, BrokerPolicy, BrokerQueue } from "../semantics.ts";
import type { DraftExchange } from "./draft.ts";

/** What a policy may be for. Source: `rabbit_policy:apply_to_validation/2`. */
export const policyScopes: readonly BrokerPolicy["applyTo"][] = [
  "all",
  "exchanges",
  "queues",
  "classic_queues",
  "quorum_queues",
  "streams",
];

/** An exchange's type as one that has rules. */
export interface RepresentedKind {
  readonly kind: BrokerExchange["kind"];
  /** Whether it routes just like that. If not, the broker chooses among the bindings, and a message may take any of them. */
  readonly isExact: boolean;
}

const chosenByPlugin: RepresentedKind = Object.freeze({ kind: "fanout", isExact: false });

/**
 * How an exchange routes.
 *
 * A plugin's type that hashes or draws lots sends a message by one of its bindings. As a fanout exchange it sends a copy by each,
 * so whatever can happen to the message happens to one of the copies, and nothing that can be lost or go round is missed.
 * Source: `rabbit_exchange_type_*:route/3` of rabbitmq-server 4.3.5.
 */
export function exchangeKindOf(exchange: Pick<DraftExchange, "type" | "arguments">): RepresentedKind {
  switch (exchange.type) {
    case "direct":
    case "fanout":
    case "topic":
    case "headers":
      return { kind: exchange.type, isExact: true };
    // It sends by every binding, and keeps a copy for queues that are bound later.
    case "x-recent-history":
      return { kind: "fanout", isExact: true };
    // It holds a message back, then routes it as the type in the argument does. Source: `rabbit_exchange_type_delayed_message:route/3`.
    case "x-delayed-message": {
      const type = exchange.arguments["x-delayed-type"];
      if (typeof type !== "string" || type === "x-delayed-message") return chosenByPlugin;
      return exchangeKindOf({ type, arguments: exchange.arguments });
    }
    default:
      return chosenByPlugin;
  }
}

/**
 * How an exchange most likely routes of which only the bindings are known: what they say would be without effect with another type.
 */
export function likelyKindOf(
  bindings: readonly { readonly routingKey: string; readonly arguments: Readonly<Record<string, unknown>> }[],
): BrokerExchange["kind"] {
  if (bindings.some((binding) => binding.arguments["x-match"] !== undefined)) return "headers";
  if (bindings.some(({ routingKey }) => /(^|\.)[*#](\.|$)/.test(routingKey))) return "topic";
  return bindings.some(({ routingKey }) => routingKey !== "") ? "direct" : "fanout";
}

/** A queue's type by its name, or by that of its module, as brokers wrote it up to 3.13; null for one without rules. */
export function queueKindNamed(type: string): BrokerQueue["kind"] | null {
  switch (type) {
    case "classic":
    case "rabbit_classic_queue":
      return "classic";
    case "quorum":
    case "rabbit_quorum_queue":
      return "quorum";
    case "stream":
    case "rabbit_stream_queue":
      return "stream";
    default:
      return null;
  }
}
