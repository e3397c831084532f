import type { BrokerBinding, BrokerTopology, ExchangeKind } from "./semantics/broker-topology.ts";
import { remembered } from "./remembered.ts";
import { type TopicIndex, topicIndex } from "./topic-index.ts";
import { patternOf, unknownHeaders } from "./unknown-message.ts";

/** The parts of a message that routing looks at. */
export interface RoutedMessage {
  readonly routingKeys: readonly string[];
  /** Header values as in JSON: a string and a number are never equal. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** The part of a topology that routing depends on, made by Redeliver or not. */
type RoutableTopology = Pick<BrokerTopology, "exchanges" | "bindings"> & {
  readonly queues: readonly { readonly name: string }[];
};

/** The exchanges of a topology and their bindings, indexed for lookup. */
export type RoutingIndex = ReturnType<typeof routingIndex>;

/** @param alternates the alternate exchanges that policies name; the argument `alternate-exchange` goes before them */
export function routingIndex(topology: RoutableTopology, alternates: ReadonlyMap<string, string> = new Map()) {
  const bindings = Map.groupBy(topology.bindings, (binding) => binding.source);
  const exchanges = topology.exchanges.map(({ name, kind, arguments: { "alternate-exchange": argument } }) => {
    const alternate = typeof argument === "string" ? argument : alternates.get(name);
    return [name, { alternate, match: matcherOf(kind, bindings.get(name) ?? []) }] as const;
  });
  const queues = new Set(topology.queues.map((queue) => queue.name));
  return { exchanges: new Map(exchanges), queues, queuesLike: namesLike(queues) };
}

type Match = (message: RoutedMessage) => readonly BrokerBinding[];

/** Names are looked up as patterns. A word in a name that only looks like a wildcard is none. */
function namesLike(names: ReadonlySet<string>): (pattern: string) => readonly string[] {
  let index: TopicIndex<string> | undefined;
  return remembered((pattern: string) => {
    index ??= topicIndex([...names].map((name) => ({ pattern: name, item: name })));
    return index.overlap(pattern).filter(matcherOfPattern(pattern));
  });
}

/**
 * Finds the queues that a message published to an exchange reaches.
 *
 * An alternate exchange takes over only if the exchange itself has no destination at all. Exchanges bound to each other
 * in a circle are visited once. Source: `rabbit_exchange:route/3`, `rabbit_exchange:process_alternate/2`.
 *
 * @returns queue names, each once; null if the exchange does not exist
 */
export function route(index: RoutingIndex, exchangeName: string, message: RoutedMessage): readonly string[] | null {
  if (exchangeName === "") return defaultRoute(index, message.routingKeys);
  const first = index.exchanges.get(exchangeName);
  if (first === undefined) return null;
  const queues = new Set<string>();
  const seen = new Set<string>([exchangeName]);
  const work = [first];
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const exchange = index.exchanges.get(name);
    if (exchange !== undefined) work.push(exchange);
  };
  for (let exchange = work.shift(); exchange !== undefined; exchange = work.shift()) {
    const matched = exchange.match(message);
    for (const { destination, destinationKind } of matched) {
      if (destinationKind === "exchange") visit(destination);
      else if (index.queues.has(destination)) queues.add(destination);
    }
    if (matched.length === 0 && exchange.alternate !== undefined) visit(exchange.alternate);
  }
  return [...queues];
}

/** The default exchange routes to the queue that has the routing key as its name. */
function defaultRoute({ queues, queuesLike }: RoutingIndex, routingKeys: readonly string[]): readonly string[] {
  const named = routingKeys.flatMap((key) => {
    const pattern = patternOf(key);
    if (pattern === null) return queues.has(key) ? [key] : [];
    // A publisher that may use any key does not name queues.
    return pattern === "#" ? [] : queuesLike(pattern);
  });
  return [...new Set(named)];
}

function matcherOf(kind: ExchangeKind, bindings: readonly BrokerBinding[]): Match {
  switch (kind) {
    case "fanout":
      return () => bindings;
    case "direct": {
      const byKey = Map.groupBy(bindings, (binding) => binding.routingKey);
      const known = (key: string): readonly BrokerBinding[] => byKey.get(key) ?? [];
      let index: TopicIndex<BrokerBinding> | undefined;
      return byRoutingKeys(known, (pattern) => (index ??= patternsOf(bindings)).overlap(pattern));
    }
    case "topic": {
      const index = patternsOf(bindings);
      return byRoutingKeys(index.match, index.overlap);
    }
    case "headers": {
      const tests = bindings.map((binding) => ({ binding, test: headersTest(binding.arguments) }));
      return ({ headers }) => tests.filter(({ test }) => test(headers)).map(({ binding }) => binding);
    }
    default:
      return kind satisfies never;
  }
}

/**
 * A message has one key, or several with CC and BCC. If only the pattern of a key is known, the message goes to every
 * possible queue.
 */
function byRoutingKeys(
  known: (key: string) => readonly BrokerBinding[],
  possible: (pattern: string) => readonly BrokerBinding[],
): Match {
  const overlapping = remembered(possible);
  const match = (key: string): readonly BrokerBinding[] => {
    const pattern = patternOf(key);
    return pattern === null ? known(key) : overlapping(pattern);
  };
  return ({ routingKeys }) => {
    const [only = ""] = routingKeys;
    return routingKeys.length === 1 ? match(only) : [...new Set(routingKeys.flatMap(match))];
  };
}

function patternsOf(bindings: readonly BrokerBinding[]): TopicIndex<BrokerBinding> {
  return topicIndex(bindings.map((item) => ({ pattern: item.routingKey, item })));
}

function matcherOfPattern(pattern: string): (routingKey: string) => boolean {
  const index = topicIndex([{ pattern, item: pattern }]);
  return (routingKey) => index.match(routingKey).length > 0;
}

/**
 * Without `x-match` all pairs must match. Pairs that start with x- count only in the -with-x forms, and a null asks for
 * presence alone. With no pair left, `all` matches everything and `any` nothing, on every version. Source:
 * `rabbit_exchange_type_headers:headers_match/5` (3.10.8), `match_all/3`, `match_any/3` (4.3.5).
 */
function headersTest(
  wanted: Readonly<Record<string, unknown>>,
): (headers: Readonly<Record<string, unknown>>) => boolean {
  const mode = wanted["x-match"];
  const isWithX = mode === "all-with-x" || mode === "any-with-x";
  const pairs = Object.entries(wanted).filter(([key]) => key !== "x-match" && (isWithX || !key.startsWith("x-")));
  const isAny = mode === "any" || mode === "any-with-x";
  return (headers) => {
    const isPartlyKnown = Object.hasOwn(headers, unknownHeaders);
    const test = ([key, value]: readonly [string, unknown]): boolean => {
      if (Object.hasOwn(headers, key)) return value === null || sameValue(headers[key], value);
      // The broker itself sets these headers, so a message that lacks them here does not have them.
      return isPartlyKnown && !/^x-(first|last)-death-/.test(key);
    };
    return isAny ? pairs.some(test) : pairs.every(test);
  };
}

function sameValue(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object") return false;
  return JSON.stringify(left) === JSON.stringify(right);
}
