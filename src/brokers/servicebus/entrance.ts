import type { Closure } from "./closure.ts";
import type { Contract, ContractSource } from "./contract.ts";
import type { MessageState, Semantics } from "./semantics.ts";

/** How messages come to a consumer: those that it declares, and others that its subscriptions would let in. */
export interface Entrance {
  readonly starts: readonly Arrival[];
  readonly undeclared: readonly Arrival[];
}

interface Arrival {
  readonly key: string;
  readonly states: readonly MessageState[];
}

/** The id of the message that is published; which one it is makes no difference. */
export const originalId = "original";

/**
 * Asks the sources about examples of every routing key that is declared, and about keys near to them that are not: with a word more, a
 * word less, or a word that nobody names. That a filter takes the same keys as its pattern, and no others, is a property of `filterOf`.
 */
export function entranceOf(semantics: Semantics, { subscriptions }: Closure, contract: Contract): Entrance {
  const word = unnamedWord(contract);
  const starts = contract.sources.flatMap((source) =>
    patternsOf(source).flatMap((pattern) =>
      examplesOf(pattern, word).map((key) => ({
        key: `${source.entity.name} ${key === pattern ? key : `${pattern} (${key})`}`,
        states: copiesOf(semantics, source, key),
      })),
    ),
  );
  const undeclared = contract.sources
    .filter(({ entity }) => entity.kind === "topic")
    .flatMap((source) =>
      [...new Set(patternsOf(source).flatMap((pattern) => nearTo(pattern, word)))]
        .filter((key) => !isDeclared(source, key))
        .map((key) => ({ key: `${source.entity.name} ${key}`, states: copiesOf(semantics, source, key) })),
    );
  const strangers = subscriptions
    .filter(({ topic }) => !contract.sources.some(({ entity }) => entity.name === topic))
    .map(({ topic }) => {
      const source: ContractSource = {
        source: "",
        entity: { kind: "topic", name: topic },
        routingKeys: [],
        sessions: false,
      };
      return { key: `${topic} ${word}`, states: copiesOf(semantics, source, word) };
    });
  return { starts, undeclared: [...undeclared, ...strangers].filter(({ states }) => states.some(isThere)) };
}

function isThere({ place }: MessageState): boolean {
  return place.kind === "entity";
}

function patternsOf({ routingKeys }: ContractSource): readonly string[] {
  return routingKeys === "all" ? ["#"] : routingKeys;
}

/** The copies of one message of a publisher that goes by the contract: without a time to live, in a session where one is wanted. */
function copiesOf(semantics: Semantics, { entity, sessions }: ContractSource, subject: string): MessageState[] {
  const content = { messageId: originalId, sessionId: sessions ? "session" : null, subject, properties: {} };
  return semantics.send({ to: entity.name, content, timeToLiveMs: null, scheduled: false }).flat();
}

/** Routing keys that a topic pattern matches: with no, one and two words in the place of `#`, and one in the place of `*`. */
function examplesOf(pattern: string, word: string): string[] {
  const words = pattern.split(".");
  const filled = [0, 1, 2].map((count) =>
    words
      .flatMap((each) => (each === "#" ? Array.from({ length: count }, () => word) : each === "*" ? [word] : [each]))
      .join("."),
  );
  return [...new Set(filled)].filter((key) => key !== "");
}

function nearTo(pattern: string, word: string): string[] {
  const examples = examplesOf(pattern, word);
  return [
    word,
    ...examples.flatMap((key) => {
      const words = key.split(".");
      return [
        `${key}.${word}`,
        `${word}.${key}`,
        words.slice(1).join("."),
        words.slice(0, -1).join("."),
        ...words.map((_, index) => words.with(index, word).join(".")),
      ];
    }),
  ].filter((key) => key !== "");
}

function isDeclared({ routingKeys }: ContractSource, key: string): boolean {
  return routingKeys === "all" || routingKeys.some((pattern) => matches(pattern.split("."), key.split(".")));
}

/** `*` is one word, `#` any number of them. */
function matches(pattern: readonly string[], words: readonly string[]): boolean {
  const [first, ...others] = pattern;
  if (first === undefined) return words.length === 0;
  if (first === "#") return words.some((_, count) => matches(others, words.slice(count))) || matches(others, []);
  return words.length > 0 && (first === "*" || first === words[0]) && matches(others, words.slice(1));
}

/** A word that stands in no key. */
function unnamedWord({ sources }: Contract): string {
  const named = JSON.stringify(sources);
  let word = "example";
  while (named.includes(word)) word += "x";
  return word;
}
