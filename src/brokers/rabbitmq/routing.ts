import type { BindingResource, ExchangeResource, Topology } from "./topology.ts";

/** What routing looks at. Header values are compared as strings; that is all our own bindings use. */
export interface RoutedMessage {
  readonly routingKeys: readonly string[];
  readonly headers: Readonly<Record<string, unknown>>;
}

/** The exchanges of a topology and their bindings, ready to look up. */
export interface RoutingIndex {
  readonly exchanges: ReadonlyMap<string, Pick<ExchangeResource, "kind" | "arguments">>;
  readonly bindings: ReadonlyMap<string, readonly BindingResource[]>;
  readonly queues: ReadonlySet<string>;
}

export function routingIndex(topology: Pick<Topology, "exchanges" | "bindings" | "queues">): RoutingIndex {
  return {
    exchanges: new Map(topology.exchanges.map((exchange) => [exchange.name, exchange])),
    bindings: Map.groupBy(topology.bindings, (binding) => binding.source),
    queues: new Set(topology.queues.map((queue) => queue.name)),
  };
}

/**
 * The queues that a message published to an exchange reaches.
 *
 * An alternate exchange takes over only where the exchange itself has no destination at all; exchanges bound to each other
 * in a circle are visited once. Source: `rabbit_exchange:route/2`.
 *
 * @returns queue names, each once; null where the exchange does not exist
 */
export function route(index: RoutingIndex, exchangeName: string, message: RoutedMessage): readonly string[] | null {
  // The default exchange routes to the queue that has the routing key as its name.
  if (exchangeName === "") return message.routingKeys.filter((key) => index.queues.has(key));
  if (!index.exchanges.has(exchangeName)) return null;
  const queues = new Set<string>();
  const seen = new Set<string>([exchangeName]);
  const work = [exchangeName];
  for (let name = work.shift(); name !== undefined; name = work.shift()) {
    const exchange = index.exchanges.get(name);
    if (exchange === undefined) continue;
    const matched = (index.bindings.get(name) ?? []).filter((binding) => matches(exchange.kind, binding, message));
    const next = matched.filter((each) => each.destinationKind === "exchange").map((each) => each.destination);
    for (const binding of matched) if (binding.destinationKind === "queue") queues.add(binding.destination);
    const alternate = exchange.arguments["alternate-exchange"];
    if (matched.length === 0 && alternate !== undefined) next.push(alternate);
    for (const destination of next) {
      if (seen.has(destination)) continue;
      seen.add(destination);
      work.push(destination);
    }
  }
  return [...queues];
}

function matches(kind: ExchangeResource["kind"], binding: BindingResource, message: RoutedMessage): boolean {
  switch (kind) {
    case "fanout":
      return true;
    case "direct":
      return message.routingKeys.includes(binding.routingKey);
    case "topic":
      return message.routingKeys.some((key) => topicMatches(binding.routingKey.split("."), key.split(".")));
    case "headers":
      return headersMatch(binding.arguments, message.headers);
    default:
      return kind satisfies never;
  }
}

/** `*` stands for one word, `#` for any number of them, none included. Source: `rabbit_exchange_type_topic`. */
function topicMatches(pattern: readonly string[], words: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  if (head === undefined) return words.length === 0;
  if (head === "#") return topicMatches(rest, words) || (words.length > 0 && topicMatches(pattern, words.slice(1)));
  return words.length > 0 && (head === "*" || head === words[0]) && topicMatches(rest, words.slice(1));
}

/** Source: `rabbit_exchange_type_headers`; headers that start with x- count only in the -with-x forms (3.10). */
function headersMatch(wanted: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, unknown>>): boolean {
  const mode = wanted["x-match"] ?? "all";
  const isWithX = mode === "all-with-x" || mode === "any-with-x";
  const pairs = Object.entries(wanted).filter(([key]) => key !== "x-match" && (isWithX || !key.startsWith("x-")));
  const test = ([key, value]: [string, unknown]): boolean => Object.hasOwn(headers, key) && headers[key] === value;
  return mode === "any" || mode === "any-with-x" ? pairs.some(test) : pairs.every(test);
}
