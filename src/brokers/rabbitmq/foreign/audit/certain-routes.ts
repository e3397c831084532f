import type { BrokerBinding, BrokerTopology } from "../../prove/semantics.ts";
import { topicIndex } from "../../prove/topic-index.ts";
import { patternOf } from "../../prove/unknown-message.ts";

/**
 * The queues that a message certainly reaches from an exchange, regardless of its headers. The key may be a pattern.
 */
export type CertainRoutes = (exchange: string, routingKey: string) => ReadonlySet<string>;

/** It leaves out alternate exchanges, because the message decides whether it takes one. */
export function certainRoutesOf({ exchanges, bindings }: BrokerTopology): CertainRoutes {
  const bySource = Map.groupBy(bindings, ({ source }) => source);
  const matchers = new Map<string, Matcher>();
  for (const { name, kind, isGuessed } of exchanges) {
    if (isGuessed !== true) matchers.set(name, matcherOf(kind, bySource.get(name) ?? []));
  }
  return (exchange, routingKey) => {
    const queues = new Set<string>();
    const reached = new Set([exchange]);
    // The loop also reaches elements that are added to the set while it runs.
    for (const name of reached) {
      for (const { destination, destinationKind } of matchers.get(name)?.(routingKey) ?? []) {
        (destinationKind === "exchange" ? reached : queues).add(destination);
      }
    }
    return queues;
  };
}

type Matcher = (routingKey: string) => readonly BrokerBinding[];

function matcherOf(kind: BrokerTopology["exchanges"][number]["kind"], bindings: readonly BrokerBinding[]): Matcher {
  switch (kind) {
    case "fanout":
      return () => bindings;
    case "topic": {
      const index = topicIndex(bindings.map((item) => ({ pattern: item.routingKey, item })));
      return (routingKey) => index.containing(patternOf(routingKey) ?? routingKey);
    }
    case "direct": {
      const byKey = Map.groupBy(bindings, ({ routingKey }) => routingKey);
      return (routingKey) => (patternOf(routingKey) === null ? (byKey.get(routingKey) ?? []) : []);
    }
    case "headers":
      return () => [];
    default:
      return kind satisfies never;
  }
}
