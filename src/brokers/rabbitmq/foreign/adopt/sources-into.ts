import { type FoundSource, type Unsaid, leadingInto } from "../../../../adopt/found.ts";
import { headersMatches } from "../../../../declare/schema-parts.ts";
import type { HeadersMatch } from "../../../../declare/system.ts";
import { isNamedForReturning, purposeOf } from "../../../../foreign/purpose.ts";
import { reservedKeyPrefix, sharedRole } from "../../compile/names.ts";
import { isSharedDelay } from "./frameworks.ts";
import type { BrokerBinding, BrokerExchange } from "../../prove/semantics.ts";
import type { Looking } from "./looking.ts";
import { ownSystemOf } from "./own-system.ts";

interface Sources {
  readonly said: readonly FoundSource[];
  readonly unsaid: readonly Unsaid[];
}

/** In the middle of a move, the new queue has the sources, and nothing leads into the old one any more. */
export function sourcesOf(looking: Looking, queue: string, system: string | null): Sources {
  const next = looking.settings.flatMap((each) => {
    const own = ownSystemOf(looking.topology, each)?.system;
    const isNext =
      own !== undefined && each.queue.startsWith(`${queue}.`) && /^\d+$/.test(each.queue.slice(queue.length + 1));
    return isNext ? [sourcesInto(looking, each.queue, own)] : [];
  });
  return next.find(({ said }) => said.length > 0) ?? sourcesInto(looking, queue, system);
}

/**
 * The exchanges whose bindings bring a queue its messages from producers. An exchange before another one stays as it is,
 * because a declaration names only the last.
 */
function sourcesInto(looking: Looking, queue: string, system: string | null): Sources {
  const { topology, surroundings, settings } = looking;
  const bound = topology.bindings.filter(
    ({ destination, destinationKind, source, routingKey }) =>
      destinationKind === "queue" &&
      destination === queue &&
      !(system !== null && sharedRole(system, source) !== null) &&
      !isSharedDelay(source) &&
      !routingKey.startsWith(reservedKeyPrefix),
  );
  const published = bound.filter(({ source }) => !isForLetters(looking, source));
  const into = published.length > 0 ? published : bound;
  const said: FoundSource[] = [];
  const unsaid: Unsaid[] = [];
  for (const [name, bindings] of Map.groupBy(into, ({ source }) => source)) {
    const exchange = surroundings.exchanges.get(name);
    const kind = exchange?.kind ?? "headers";
    const type = exchange?.pluginType ?? kind;
    const isOwn = system !== null && name.startsWith(`${system}.`);
    const isHeaders = kind === "headers" && type === kind;
    const before = leadingInto(
      topology.bindings.flatMap((each) =>
        each.destinationKind === "exchange" && each.destination === name ? [each.source] : [],
      ),
    );
    const { keys: matches, others } = isHeaders ? matchesOf(bindings) : { keys: null, others: bindings };
    if (matches !== null)
      said.push({
        name,
        kind: "headers",
        keys: matches,
        isOwn,
        from: `the headers exchange ${name}, bound to ${queue}${before}`,
      });
    const isOpaque =
      type !== kind &&
      bindings.every(({ routingKey, arguments: given }) => routingKey !== "" && Object.keys(given).length === 0);
    if ((type !== kind && !isOpaque) || isHeaders || exchange === undefined) {
      const fact = `a declaration cannot say ${others.length === 1 ? "its binding" : `${others.length} of its bindings`} to ${queue}, because its type is ${exchange === undefined ? "unknown" : type}; on the broker ${others.length === 1 ? "it stays" : "they stay"}`;
      if (others.length > 0) unsaid.push({ place: name, fact });
      continue;
    }
    const keys = [...new Set(bindings.map(({ routingKey }) => routingKey))].toSorted();
    const isAll = (kind === "fanout" && !isOpaque) || (kind === "topic" && keys.join(" ") === "#");
    // Messages that wait would be lost if a person left such a key out.
    const back = settings.flatMap(({ queue: wait, deadLetterExchange, deadLetterRoutingKey: key }) =>
      !isAll && surroundings.shapeOf(wait) === "wait" && deadLetterExchange === name && keys.includes(key ?? "")
        ? [`; messages that wait in ${wait} come back by its key ${JSON.stringify(key)}`]
        : [],
    );
    const special = specialsOf(exchange);
    unsaid.push(...special.map((fact) => ({ place: name, fact })));
    said.push({
      name,
      ...(isOpaque ? { kind: "opaque", type } : { kind }),
      keys: isAll ? "all" : keys,
      isOwn,
      ...(isOpaque || special.length > 0 ? { isForeign: true } : {}),
      from: `the ${type} exchange ${name}, bound to ${queue}${before}${back.slice(0, 5).join("")}`,
    });
    if (kind === "direct" && keys.includes(""))
      unsaid.push({ place: name, fact: `a binding to ${queue} has an empty key, which a declaration cannot ask for` });
  }
  return { said, unsaid };
}

/**
 * True for an exchange that only dead letters and waiting messages pass, as its name says. Many systems bring messages
 * back through the source itself. A source too many brings no message that the old queue does not get, and one too few
 * strands messages.
 */
function isForLetters({ settings, delays }: Looking, exchange: string): boolean {
  return (
    (isNamedForReturning(exchange) || purposeOf(exchange) === "failures") &&
    settings.some((each) => each.deadLetterExchange === exchange && !delays.has(each.queue))
  );
}

/** The facts about an exchange that no declaration can make. */
function specialsOf({ arguments: given, pluginType }: BrokerExchange): readonly string[] {
  if (pluginType === "x-delayed-message")
    return ["it delays messages by their x-delay, so the code may send its retries through it"];
  const names = Object.keys(given);
  return names.length === 0
    ? []
    : [`it has ${names.join(", ")}, which no declared exchange has; so it stays another owner's`];
}

/** The matches of a queue. `keys` is null if a declaration can express none of them. */
function matchesOf(bindings: readonly BrokerBinding[]): {
  readonly keys: FoundSource["keys"] | null;
  /** The bindings that no declaration can say. */
  readonly others: readonly BrokerBinding[];
} {
  const read = bindings.map((binding) => ({ binding, match: matchOf(binding) }));
  const others = read.filter(({ match }) => match === null).map(({ binding }) => binding);
  // Bindings that differ by their routing keys alone are one match.
  const texts = new Map(read.map(({ match }) => [JSON.stringify(match), match]));
  const matches = [...texts.values()].filter((match) => match !== null);
  const said = matches.filter((match) => match !== "all");
  if (said.length < matches.length) return { keys: "all", others };
  const [first = null] = said;
  return { keys: said.length > 1 ? said : first, others };
}

/** Null if a declaration cannot say which headers the binding asks for. */
function matchOf({ arguments: given }: BrokerBinding): HeadersMatch | "all" | null {
  const { "x-match": match = "all", ...all } = given;
  const way = headersMatches.find((each) => each === match);
  // Without this form the broker ignores headers whose names begin with x-.
  const headers = Object.entries(all).filter(([name]) => way?.endsWith("-with-x") === true || !name.startsWith("x-"));
  const plain = headers.filter(
    (entry): entry is [string, string | number | boolean] =>
      ["string", "boolean"].includes(typeof entry[1]) ||
      // A larger number reads as another one.
      (typeof entry[1] === "number" && Math.abs(entry[1]) <= Number.MAX_SAFE_INTEGER),
  );
  if (way === undefined || plain.length < headers.length) return null;
  return plain.length > 0 ? { match: way, headers: Object.fromEntries(plain) } : way.startsWith("all") ? "all" : null;
}
