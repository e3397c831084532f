import { declaredKeys, isDeclared, wordAbsentFrom } from "../../../contract/topic-pattern.ts";
import type { Closure } from "./closure.ts";
import type { Contract, ContractSource } from "../compile/contract.ts";
import type { MessageState, Semantics } from "./semantics.ts";

/** The messages that come to a consumer: the declared ones, and others that its subscriptions would let in. */
export type Entrance = ReturnType<typeof entranceOf>;

/** The id of the published message. Any id would do. */
export const originalId = "original";

/**
 * Asks the sources about examples of every declared routing key. It also asks about similar undeclared keys: with a
 * word more, a word less, or an unknown word. `filterOf` ensures that a filter takes the same keys as its
 * pattern, and no others.
 */
export function entranceOf(semantics: Semantics, { subscriptions }: Closure, contract: Contract) {
  const word = wordAbsentFrom(contract.sources);
  const starts = contract.sources.flatMap((source) =>
    declaredKeys(source.routingKeys, word).map(({ key, inWords }) => ({
      key: `${source.entity.name} ${inWords}`,
      states: copiesOf(semantics, source, key),
    })),
  );
  const undeclared = contract.sources
    .filter(({ entity }) => entity.kind === "topic")
    .flatMap((source) =>
      [...new Set(nearTo(declaredKeys(source.routingKeys, word), word))]
        .filter((key) => !isDeclared(source.routingKeys, key))
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
  return {
    starts,
    undeclared: [...undeclared, ...strangers].filter(({ states }) =>
      states.some(({ place }) => place.kind === "entity"),
    ),
  };
}

/**
 * The copies of one message. Its publisher keeps the contract: no time to live, and a session if the source wants one.
 */
function copiesOf(semantics: Semantics, { entity, sessions }: ContractSource, subject: string): MessageState[] {
  const content = { messageId: originalId, sessionId: sessions ? "session" : null, subject, properties: {} };
  return semantics.send({ to: entity.name, content, timeToLiveMs: null, scheduled: false }).flat();
}

function nearTo(examples: readonly { readonly key: string }[], word: string): string[] {
  return [
    word,
    ...examples.flatMap(({ key }) => {
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
