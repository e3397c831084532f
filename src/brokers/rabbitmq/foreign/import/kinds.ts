import type { BrokerExchange, BrokerPolicy, BrokerQueue } from "../../prove/semantics.ts";
import type { DraftExchange } from "./draft.ts";

/** The only built-in exchange that is internal: the broker alone publishes to it. Source: as of {@link builtIn}. */
export const traceExchange = "amq.rabbitmq.trace";

/**
 * Exchanges that every virtual host has and no export contains. The default exchange is not among them, because routing
 * knows it. Source: `rabbit_vhost:declare_default_exchanges/2`, `rabbit_definitions:list_exchanges/0`.
 */
export const builtIn = Object.freeze({
  "amq.direct": "direct",
  "amq.fanout": "fanout",
  "amq.headers": "headers",
  "amq.match": "headers",
  "amq.topic": "topic",
  [traceExchange]: "topic",
} as const);

/** The possible scopes of a policy. Source: `rabbit_policy:apply_to_validation/2`. */
export const policyScopes: readonly BrokerPolicy["applyTo"][] = [
  "all",
  "exchanges",
  "queues",
  "classic_queues",
  "quorum_queues",
  "streams",
];

/** An exchange's type, represented by one that has rules. */
export interface RepresentedKind {
  readonly kind: BrokerExchange["kind"];
  /**
   * True if it routes exactly so. If not, the broker chooses among the bindings, and a message may take any of them.
   */
  readonly isExact: boolean;
}

const chosenByPlugin: RepresentedKind = Object.freeze({ kind: "fanout", isExact: false });

/**
 * The routing of an exchange.
 *
 * A plugin's type that hashes or chooses at random sends a message by one of its bindings. A fanout exchange sends a
 * copy by each. So each possible fate of the message is the fate of one copy, and the audit misses no loss and no loop.
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
    // It holds a message back, then routes it like the type in the argument. Source:
    // `rabbit_exchange_type_delayed_message:route/3`.
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
 * The most likely routing of an exchange with only known bindings. With another type, their keys or arguments would
 * have no effect.
 */
export function likelyKindOf(
  bindings: readonly { readonly routingKey: string; readonly arguments: Readonly<Record<string, unknown>> }[],
): BrokerExchange["kind"] {
  if (bindings.some((binding) => binding.arguments["x-match"] !== undefined)) return "headers";
  if (bindings.some(({ routingKey }) => /(^|\.)[*#](\.|$)/.test(routingKey))) return "topic";
  return bindings.some(({ routingKey }) => routingKey !== "") ? "direct" : "fanout";
}

/**
 * An MQTT queue for quality of service 0 hands messages to its client's connection and keeps none. Source:
 * `rabbit_mqtt_qos0_queue.erl`.
 */
export function isMqttQos0(type: string): boolean {
  return /^(rabbit_)?mqtt[-_]?qos[-_]?0/i.test(type);
}

/**
 * A queue's type by its name, or by the name of its module, which brokers wrote up to 3.13. Null for a type without
 * rules.
 */
export function queueKindNamed(type: string): BrokerQueue["kind"] | null {
  if (isMqttQos0(type)) return "classic";
  const kinds = ["classic", "quorum", "stream"] as const;
  return kinds.find((kind) => type === kind || type === `rabbit_${kind}_queue`) ?? null;
}
