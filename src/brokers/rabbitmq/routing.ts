import type { TopicIndex } from "./topic-index.ts";
import { topicIndex } from "./topic-index.ts";
import { patternOf, unknownHeaders } from "./unknown-message.ts";

/** What routing looks at. */
export interface RoutedMessage {
  readonly routingKeys: readonly string[];
  /** Header values as JSON has them: a string and a number are never equal. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** The part of a topology that routing depends on, whoever made it. */
export interface RoutableTopology {
  readonly exchanges: readonly RoutableExchange[];
  readonly bindings: readonly RoutableBinding[];
  readonly queues: readonly { readonly name: string }[];
}

interface RoutableExchange {
  readonly name: string;
  readonly kind: "direct" | "fanout" | "topic" | "headers";
  readonly arguments: Readonly<Record<string, unknown>>;
}

interface RoutableBinding {
  readonly source: string;
  readonly destination: string;
  readonly destinationKind: "queue" | "exchange";
  readonly routingKey: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The exchanges of a topology and their bindings, ready to look up. */
export interface RoutingIndex {
  readonly exchanges: ReadonlyMap<string, IndexedExchange>;
  readonly queues: ReadonlySet<string>;
  /** The queues whose name a pattern matches. */
  readonly queuesLike: (pattern: string) => readonly string[];
}

interface IndexedExchange {
  readonly alternate: string | undefined;
  readonly match: (message: RoutedMessage) => readonly RoutableBinding[];
}

/**
 * @param alternates the alternate exchanges that policies name; the argument `alternate-exchange` goes before them
 */
export function routingIndex(
  topology: RoutableTopology,
  alternates: ReadonlyMap<string, string> = new Map(),
): RoutingIndex {
  const bindings = Map.groupBy(topology.bindings, (binding) => binding.source);
  const exchanges = topology.exchanges.map((exchange): [string, IndexedExchange] => {
    const argument = exchange.arguments["alternate-exchange"];
    return [
      exchange.name,
      {
        alternate: typeof argument === "string" ? argument : alternates.get(exchange.name),
        match: matcherOf(exchange.kind, bindings.get(exchange.name) ?? []),
      },
    ];
  });
  const queues = new Set(topology.queues.map((queue) => queue.name));
  return { exchanges: new Map(exchanges), queues, queuesLike: namesLike(queues) };
}

/** Names are looked up as if they were patterns themselves; a word of a name that only looks like a wildcard is not one. */
function namesLike(names: ReadonlySet<string>): RoutingIndex["queuesLike"] {
  const found = new Map<string, readonly string[]>();
  let index: TopicIndex<string> | undefined;
  return (pattern) => {
    let matching = found.get(pattern);
    if (matching === undefined) {
      index ??= topicIndex([...names].map((name) => ({ pattern: name, item: name })));
      matching = index.overlap(pattern).filter(matcherOfPattern(pattern));
      found.set(pattern, matching);
    }
    return matching;
  };
}

/**
 * The queues that a message published to an exchange reaches.
 *
 * An alternate exchange takes over only where the exchange itself has no destination at all; exchanges bound to each other
 * in a circle are visited once. Source: `rabbit_exchange:route/3`, `rabbit_exchange:process_alternate/2`.
 *
 * @returns queue names, each once; null where the exchange does not exist
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
    // Who publishes with any key at all does not name queues.
    return pattern === "#" ? [] : queuesLike(pattern);
  });
  return [...new Set(named)];
}

function matcherOf(kind: RoutableExchange["kind"], bindings: readonly RoutableBinding[]): IndexedExchange["match"] {
  switch (kind) {
    case "fanout":
      return () => bindings;
    case "direct": {
      const byKey = Map.groupBy(bindings, (binding) => binding.routingKey);
      const known = (key: string): readonly RoutableBinding[] => byKey.get(key) ?? [];
      let index: TopicIndex<RoutableBinding> | undefined;
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

/** A message has one key, or several with CC and BCC; a key of which only the pattern is known goes wherever it can. */
function byRoutingKeys(
  known: (key: string) => readonly RoutableBinding[],
  possible: (pattern: string) => readonly RoutableBinding[],
): IndexedExchange["match"] {
  const found = new Map<string, readonly RoutableBinding[]>();
  const match = (key: string): readonly RoutableBinding[] => {
    const pattern = patternOf(key);
    if (pattern === null) return known(key);
    let bindings = found.get(pattern);
    if (bindings === undefined) {
      bindings = possible(pattern);
      found.set(pattern, bindings);
    }
    return bindings;
  };
  return ({ routingKeys }) => {
    const [only = ""] = routingKeys;
    return routingKeys.length === 1 ? match(only) : [...new Set(routingKeys.flatMap(match))];
  };
}

function patternsOf(bindings: readonly RoutableBinding[]): TopicIndex<RoutableBinding> {
  return topicIndex(bindings.map((item) => ({ pattern: item.routingKey, item })));
}

/** Tells which routing keys a pattern matches. */
function matcherOfPattern(pattern: string): (routingKey: string) => boolean {
  const index = topicIndex([{ pattern, item: pattern }]);
  return (routingKey) => index.match(routingKey).length > 0;
}

/**
 * Without `x-match` all pairs must match. Pairs that start with x- count only in the -with-x forms, and a null stands for
 * presence alone. With no pair left, `all` matches everything and `any` nothing, on every version.
 * Source: `rabbit_exchange_type_headers:headers_match/5` (3.10.8), `match_all/3`, `match_any/3` (4.3.5).
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
      // Of the headers that the broker itself sets it is known that they are not there.
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
