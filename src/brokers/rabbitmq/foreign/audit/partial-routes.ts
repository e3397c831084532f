import type { BrokerBinding, EffectiveSettings, MessageState, Semantics } from "../../prove/semantics.ts";
import { keyThrough, patternOf } from "../../prove/unknown-message.ts";
import { isSharedDelay } from "../adopt/frameworks.ts";
import { messageIn } from "./shapes.ts";
import type { QueueFinding } from "./sentences.ts";
import type { Surroundings } from "./surroundings.ts";

/** The most keys of one pattern that are looked at. A pattern with one `#` has far fewer. */
const mostKeys = 1_000;
/** The most queues on the way of one dead letter. */
const mostStops = 20;

/** A message that can reach a queue, and whose dead letter has no route. */
export interface Unrouted {
  /** The key of the binding, or `#` for any key. */
  readonly pattern: string;
  /** The key of the message. */
  readonly key: string;
  /** The queue that loses it: the queue itself, or a wait queue after it. */
  readonly lostIn: string;
  /** True if another message through the same binding has a route. */
  readonly isPart: boolean;
}

/**
 * Finds for each binding of a work queue a message without a route at the dead-letter exchange.
 *
 * Such a message has as few headers as the binding asks for, and its wildcards are words that no binding names. Every
 * binding that takes it also takes all others of its length, so these messages decide about all of them.
 */
export function unroutedOf(
  semantics: Semantics,
  surroundings: Surroundings,
  { queue, deadLetterExchange, deadLetterRoutingKey }: EffectiveSettings,
): readonly Unrouted[] {
  const kindOf = (exchange: string | null) => surroundings.exchanges.get(exchange ?? "")?.kind;
  if (deadLetterExchange === null || surroundings.shapeOf(queue) !== "work" || isSharedDelay(queue)) return [];
  // A key of the queue has a route or none, for all its messages.
  if (deadLetterRoutingKey !== null && kindOf(deadLetterExchange) !== "headers") return [];
  const inQueue = messageIn(semantics, queue);
  if (inQueue === undefined) return [];
  const lostIn = (message: Pick<MessageState, "routingKeys"> & Partial<MessageState>): ReadonlySet<string> =>
    losingQueues(semantics, surroundings, { ...inQueue, ...message });
  const found = surroundings.bindingsInto(queue).flatMap((binding): readonly Unrouted[] => {
    const given = keyThrough(kindOf(binding.source), binding);
    const pattern = patternOf(given) ?? given;
    const certain =
      kindOf(deadLetterExchange) === "headers" ? [] : [...surroundings.certainly(deadLetterExchange, given)];
    if (certain.length > 0 && certain.every((each) => surroundings.shapeOf(each) !== "wait")) return [];
    const all = lostIn({ routingKeys: [given] });
    if (all.has(queue)) return [{ pattern, key: pattern, lostIn: queue, isPart: false }];
    // Only a topic exchange shows the keys of its publishers. By another one they may use the bound keys alone.
    const isHidden = kindOf(binding.source) !== "topic" && kindOf(deadLetterExchange) !== "headers";
    const keys = given === pattern ? [pattern] : isHidden ? [] : keysLike(pattern, surroundings);
    for (const key of keys)
      for (const headers of leastHeaders(kindOf(binding.source), binding, surroundings.strangeWord())) {
        const lost = [...lostIn({ routingKeys: [key], headers })].find((each) => !all.has(each));
        if (lost !== undefined) return [{ pattern, key, lostIn: lost, isPart: true }];
      }
    return [];
  });
  return [...new Map(found.map((each) => [each.pattern, each])).values()];
}

/** RD412 reports an exchange without a route for any key of a binding. */
export function partlyRouted(
  semantics: Semantics,
  surroundings: Surroundings,
  settings: EffectiveSettings,
): QueueFinding[] {
  const first = unroutedOf(semantics, surroundings, settings).find(({ isPart }) => isPart);
  if (first === undefined) return [];
  const { pattern, key, lostIn } = first;
  const lost = semantics.settings(lostIn);
  const exchange = lost?.deadLetterExchange ?? "";
  const { kind = "direct" } = surroundings.exchanges.get(exchange) ?? {};
  const isKept = lost?.deadLetterStrategy === "at-least-once";
  const from = settings.queue === lostIn ? null : settings.queue;
  const evidence = { key, word: surroundings.strangeWord(), kind, from, isKept };
  return [{ code: "RD429", subject: lostIn, facts: { pattern, exchange }, evidence }];
}

/** One key of a pattern for each number of words that makes a difference to a binding. */
function keysLike(pattern: string, { strangeWord, mostWords }: Surroundings): readonly string[] {
  const word = strangeWord();
  const counts = [1, 0, ...Array.from({ length: mostWords() }, (_, index) => index + 2)];
  const all = pattern.split(".").reduce<readonly (readonly string[])[]>(
    (keys, part) => {
      const parts =
        part === "#" ? counts.map((count) => Array<string>(count).fill(word)) : [[part === "*" ? word : part]];
      return keys.flatMap((key) => parts.map((more) => [...key, ...more])).slice(0, mostKeys);
    },
    [[]],
  );
  const keys = all.map((words) => words.join("."));
  // People seldom publish with the empty key.
  return keys.toSorted((one, other) => Number(one === "") - Number(other === ""));
}

/** The headers that a message through a binding has at least: all that it asks for, or one of them. */
function leastHeaders(
  kind: string | undefined,
  { arguments: wanted }: BrokerBinding,
  word: string,
): readonly MessageState["headers"][] {
  if (kind !== "headers") return [{}];
  const mode = String(wanted["x-match"] ?? "all");
  const headers = Object.entries(wanted)
    .filter(([key]) => key !== "x-match" && (mode.endsWith("-with-x") || !key.startsWith("x-")))
    .map(([key, value]) => ({ [key]: value ?? word }));
  return mode.startsWith("any") ? headers : [Object.assign({}, ...headers) as MessageState["headers"]];
}

/** The queues that a message is lost in, if its consumer rejects it and it then waits its time. */
function losingQueues(semantics: Semantics, surroundings: Surroundings, start: MessageState): ReadonlySet<string> {
  const losing = new Set<string>();
  const open = [start];
  for (const { place, ...state } of open) {
    if (place.kind !== "queue" || open.length > mostStops) continue;
    const isStart = open[0]?.place === place;
    const isWaiting = surroundings.shapeOf(place.queue) === "wait" && state.expiresAfterMs !== null;
    // The routing of a guessed exchange is unknown.
    const exchange = semantics.settings(place.queue)?.deadLetterExchange ?? null;
    if ((!isStart && !isWaiting) || exchange === null || surroundings.guessed.has(exchange)) continue;
    const copies = isStart
      ? semantics.step(
          { ...state, place: { kind: "queue", queue: place.queue, status: "delivered" } },
          { kind: "nack", requeue: false },
        )
      : semantics.step({ ...state, place }, { kind: "expire" });
    for (const copy of copies.flat()) {
      if ("cause" in copy.place && copy.place.cause === "no-route") losing.add(place.queue);
      else open.push(copy);
    }
  }
  return losing;
}
