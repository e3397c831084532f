import type { Model } from "../../explore/model.ts";
import type { Closure } from "./closure.ts";
import type { Contract, ContractSource } from "./contract.ts";
import { routingKeyAttribute } from "./filter.ts";
import type { MessageState, Semantics } from "./semantics.ts";

/** How messages come to a consumer: those that it declares, and others that its subscriptions would let in. */
export interface Entrance {
  readonly starts: Model<MessageState>["starts"];
  readonly undeclared: Model<MessageState>["starts"];
}

/** The group of a message in order; which one it is makes no difference. */
const group = "group";

/**
 * Asks the topics about enough routing keys to answer for all of them. A filter compares whole values, beginnings and ends, and a declared
 * pattern words at its beginning or its end; so all keys with the same beginning and end that the filter or the pattern names, and words
 * that neither names for the rest, are treated alike. For each pattern and each value of a filter such keys are asked: none, one and two
 * words that nobody names in the place of the rest.
 */
export function entranceOf(semantics: Semantics, closure: Closure, contract: Contract): Entrance {
  const word = unnamedWord(closure, contract);
  const starts = contract.sources.flatMap((source) =>
    (source.routingKeys === "all" ? ["#"] : source.routingKeys).flatMap((pattern) =>
      examplesOf(pattern, word).map((key) => ({
        key: `${source.topic} ${key === pattern ? key : `${pattern} (${key})`}`,
        // Publishers go by the contract: where it says nothing of groups they give none.
        states: copiesOf(semantics, closure, source, key),
      })),
    ),
  );
  const undeclared = closure.subscriptions.flatMap(({ topic, filterPolicy }) => {
    const source = contract.sources.find((each) => each.topic === topic);
    const fifo = closure.topics.some((each) => each.name === topic && each.fifo);
    return (filterPolicy?.[routingKeyAttribute] ?? [anything])
      .flatMap((value) => keysLike(value, word))
      .filter((key) => !isDeclared(source, key))
      .map((key) => ({ key: `${topic} ${key}`, states: copiesOf(semantics, closure, { topic, fifo }, key) }));
  });
  return { starts, undeclared: undeclared.filter(({ states }) => states.some(({ place }) => place.kind === "queue")) };
}

/**
 * The copies of one message when the queue's delay is over, which no promise counts. And those that a topic could not hand over, where
 * they are lost then; where its dead-letter queue keeps them they are at their end, and there is nothing more to prove.
 */
function copiesOf(
  semantics: Semantics,
  { subscriptions }: Closure,
  { topic, fifo }: Pick<ContractSource, "topic" | "fifo">,
  key: string,
): MessageState[] {
  const publication = {
    topic,
    attributes: { [routingKeyAttribute]: key },
    ...(fifo ? { groupId: group } : {}),
  };
  const delivered = semantics
    .publish(publication)
    .flat()
    .flatMap((state) => {
      const isDelayed = state.place.kind === "queue" && state.place.status === "delayed";
      return isDelayed ? semantics.step(state, { kind: "delay-passes" }).flat() : [state];
    });
  const unreachableQueues = new Set(subscriptions.map(({ queue }) => queue));
  const failed = semantics.publish(publication, { unreachableQueues }).flat();
  const isNew = ({ place }: MessageState): boolean =>
    place.kind === "lost" && place.cause === "undeliverable" && !delivered.some((each) => each.place.kind === "lost");
  return [...delivered, ...failed.filter(isNew)];
}

/** Routing keys that a topic pattern matches: with no, one and two words in the place of `#`, and one in the place of `*`. */
function examplesOf(pattern: string, word: string): string[] {
  const words = pattern.split(".");
  if (!words.includes("#") && !words.includes("*")) return [pattern];
  const filled = [0, 1, 2].map((count) =>
    words
      .flatMap((each) => (each === "#" ? Array.from({ length: count }, () => word) : each === "*" ? [word] : [each]))
      .join("."),
  );
  // An attribute of a message is never empty.
  return [...new Set(filled)].filter((key) => key !== "");
}

const anything = Object.freeze({ prefix: "" });

/** Keys that one value of a filter takes, with words that nobody names where it says nothing. */
function keysLike(value: unknown, word: string): string[] {
  if (typeof value === "string") return [value];
  const { prefix, suffix } = value as { readonly prefix?: unknown; readonly suffix?: unknown };
  const rest = ["", word, `${word}.${word}`];
  const keys =
    typeof prefix === "string"
      ? rest.map((each) => `${prefix}${each}`)
      : typeof suffix === "string"
        ? rest.map((each) => `${each}${suffix}`)
        : rest;
  return keys.filter((key) => key !== "");
}

function isDeclared(source: ContractSource | undefined, key: string): boolean {
  if (source === undefined) return false;
  const { routingKeys } = source;
  return routingKeys === "all" || routingKeys.some((pattern) => matches(pattern.split("."), key.split(".")));
}

/** `*` is one word, `#` any number of them. */
function matches(pattern: readonly string[], words: readonly string[]): boolean {
  const [first, ...others] = pattern;
  if (first === undefined) return words.length === 0;
  if (first === "#") return words.some((_, count) => matches(others, words.slice(count))) || matches(others, []);
  return words.length > 0 && (first === "*" || first === words[0]) && matches(others, words.slice(1));
}

/** A word that stands in no key and in no filter. */
function unnamedWord({ subscriptions }: Closure, { sources }: Contract): string {
  const named = JSON.stringify([sources, subscriptions]);
  let word = "example";
  while (named.includes(word)) word += "x";
  return word;
}
