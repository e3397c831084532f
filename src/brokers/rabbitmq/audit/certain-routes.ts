import type { BrokerBinding, BrokerTopology } from "../semantics.ts";
import { topicIndex } from "../topic-index.ts";
import { patternOf } from "../unknown-message.ts";

/** The queues that every message reaches that is published to an exchange with a key that may be a pattern, whatever its headers. */
export type CertainRoutes = (exchange: string, routingKey: string) => ReadonlySet<string>;

/** Alternates are left out: whether one is taken depends on the message. */
export function certainRoutesOf({ exchanges, bindings }: BrokerTopology): CertainRoutes {
  const bySource = Map.groupBy(bindings, ({ source }) => source);
  const matchers = new Map<string, Matcher>();
  for (const { name, kind, isGuessed } of exchanges) {
    if (isGuessed !== true) matchers.set(name, matcherOf(kind, bySource.get(name) ?? []));
  }
  return (exchange, routingKey) => {
    const queues = new Set<string>();
    const reached = new Set([exchange]);
    // What is added to a set is still met by the loop over it.
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
