import type { FoundSource, Unsaid } from "../../../../adopt/found.ts";
import { reservedKeyPrefix, sharedRole } from "../../compile/names.ts";
import { isSharedDelay } from "./frameworks.ts";
import type { BrokerBinding } from "../../prove/semantics.ts";
import type { Looking } from "./looking.ts";

/**
 * The exchanges whose bindings bring a queue its messages from producers. Exchanges that dead letters and waiting
 * messages pass are none. An exchange before another one stays as it is, because a declaration names only the last.
 */
export function sourcesInto(
  { topology, surroundings, settings }: Looking,
  queue: string,
  system: string | null,
): { readonly said: readonly FoundSource[]; readonly unsaid: readonly Unsaid[] } {
  const bound = topology.bindings.filter(
    ({ destination, destinationKind, source, routingKey }) =>
      destinationKind === "queue" &&
      destination === queue &&
      !(system !== null && sharedRole(system, source) !== null) &&
      !isSharedDelay(source) &&
      !routingKey.startsWith(reservedKeyPrefix),
  );
  // Symfony brings messages back through the source itself. Beside another exchange, one for dead letters is no source.
  const deadLetterExchanges = new Set(settings.map((each) => each.deadLetterExchange));
  const published = bound.filter(({ source }) => !deadLetterExchanges.has(source));
  const into = published.length > 0 ? published : bound;
  const said: FoundSource[] = [];
  const unsaid: Unsaid[] = [];
  for (const [name, bindings] of Map.groupBy(into, ({ source }) => source)) {
    const exchange = surroundings.exchanges.get(name);
    const kind = exchange?.kind ?? "headers";
    const type = exchange?.pluginType ?? kind;
    const match = kind === "headers" && type === kind ? matchOf(bindings) : null;
    if (match !== null) {
      const isOwn = system !== null && name.startsWith(`${system}.`);
      said.push({ name, kind: "headers", keys: match, isOwn, from: `the headers exchange ${name}, bound to ${queue}` });
      continue;
    }
    const isOpaque =
      type !== kind &&
      bindings.every(({ routingKey, arguments: given }) => routingKey !== "" && Object.keys(given).length === 0);
    if ((type !== kind && !isOpaque) || (type === kind && kind === "headers") || exchange === undefined) {
      unsaid.push({
        place: name,
        fact: `it is of the type ${exchange === undefined ? "unknown" : type}, whose bindings no declaration says; its ${bindings.length} bindings to ${queue} stay on the broker, and nothing declares them`,
      });
      continue;
    }
    const keys = [...new Set(bindings.map(({ routingKey }) => routingKey))].toSorted();
    const isAll = (kind === "fanout" && !isOpaque) || (kind === "topic" && keys.join(" ") === "#");
    const before = topology.bindings.filter((each) => each.destinationKind === "exchange" && each.destination === name);
    const upstream = [...new Set(before.map(({ source }) => source))].filter((each) => !isSharedDelay(each));
    said.push({
      name,
      ...(isOpaque ? { kind: "opaque", type } : { kind }),
      keys: isAll ? "all" : keys,
      isOwn: system !== null && name.startsWith(`${system}.`),
      from: `the ${type} exchange ${name}, bound to ${queue}${upstream.length === 0 ? "" : `; ${upstream.slice(0, 5).join(", ")} lead into it and stay as they are`}`,
    });
    if (kind === "direct" && keys.includes(""))
      unsaid.push({ place: name, fact: `a binding to ${queue} has an empty key, which a declaration cannot ask for` });
  }
  return { said, unsaid };
}

/** Null if a declaration cannot say which headers the queue asks for: it has one set of texts for each source. */
function matchOf(bindings: readonly BrokerBinding[]): FoundSource["keys"] | null {
  const [first, ...others] = bindings;
  const { "x-match": match = "all", ...headers } = first?.arguments ?? {};
  const way = (["all", "any", "all-with-x", "any-with-x"] as const).find((each) => each === match);
  if (others.length > 0 || way === undefined) return null;
  const texts = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  if (texts.length < Object.keys(headers).length) return null;
  return texts.length === 0 ? (way === "all" ? "all" : null) : { match: way, headers: Object.fromEntries(texts) };
}
