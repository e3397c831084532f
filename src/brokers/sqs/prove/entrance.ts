import { declaredKeys, isDeclared, wordAbsentFrom } from "../../../contract/topic-pattern.ts";
import type { Closure } from "./closure.ts";
import { type Contract, type QueueSource, type TopicSource, topicSources } from "../compile/contract.ts";
import { routingKeyAttribute } from "../compile/filter.ts";
import { headerTexts } from "../../../plan/plan.ts";
import type { MessageState, Semantics } from "./semantics.ts";

/** The messages that come to a consumer: the declared ones, and others that its subscriptions would let in. */
export type Entrance = ReturnType<typeof entranceOf>;

/** The group of a message in order. Any group would do. */
const group = "group";

/**
 * Asks the topics about enough routing keys to answer for all of them. A filter compares whole values, beginnings and
 * ends. A declared pattern compares words at its beginning or its end. So only the beginning and end that a filter or
 * pattern names matter; all other words are alike. Each pattern and each value of a filter is asked with none, one and
 * two unknown words in the other places.
 */
export function entranceOf(semantics: Semantics, closure: Closure, contract: Contract) {
  const word = wordAbsentFrom([contract.sources, closure.subscriptions]);
  const topics = topicSources(contract);
  const sent = contract.sources.flatMap((source) =>
    "queue" in source ? [{ key: source.queue, states: sentTo(semantics, source) }] : [],
  );
  // The publishers keep the contract. If it names no group, they give none.
  const published = topics.flatMap((source) =>
    source.attributes === undefined
      ? declaredKeys(source.routingKeys, word).map(({ key, inWords }) => ({
          key: `${source.topic} ${inWords}`,
          states: copiesOf(semantics, closure, source, { [routingKeyAttribute]: key }),
        }))
      : combinationsOf(source.attributes).map((attributes) => ({
          key: `${source.topic} ${headerTexts(attributes).join(" ")}`,
          states: copiesOf(semantics, closure, source, attributes),
        })),
  );
  const undeclared = closure.subscriptions.flatMap(({ topic, filterPolicy }) => {
    const source = topics.find((each) => each.topic === topic);
    const fifo = closure.topics.some((each) => each.name === topic && each.fifo);
    return (filterPolicy?.[routingKeyAttribute] ?? [anything])
      .flatMap((value) => keysTakenBy(value, word))
      .filter((key) => source === undefined || !isDeclared(source.routingKeys, key))
      .map((key) => ({
        key: `${topic} ${key}`,
        states: copiesOf(semantics, closure, { topic, fifo }, { [routingKeyAttribute]: key }),
      }));
  });
  // One attribute has a value that is not declared, and that a filter takes.
  const unmatched = topics.flatMap((source) => {
    const [usual = {}] = combinationsOf(source.attributes ?? {});
    const filters = closure.subscriptions.filter(({ topic }) => topic === source.topic);
    return Object.entries(source.attributes ?? {}).flatMap(([name, declared]) =>
      filters
        .flatMap(({ filterPolicy }) => filterPolicy?.[name] ?? [anything])
        .flatMap((value) => keysTakenBy(value, word))
        .filter((value) => !declared.includes(value))
        .map((value) => ({
          key: `${source.topic} ${name}=${value}`,
          states: copiesOf(semantics, closure, source, { ...usual, [name]: value }),
        })),
    );
  });
  return {
    starts: [...sent, ...published],
    undeclared: [...undeclared, ...unmatched].filter(({ states }) =>
      states.some(({ place }) => place.kind === "queue"),
    ),
  };
}

/**
 * The copies of one message after the queue's delay, which no promise counts. The list also has copies that a topic
 * could not deliver, if they are lost then. Copies that the topic's dead-letter queue keeps are at their end, so there
 * is nothing more to prove. The message has as many attributes as the contract allows publishers.
 */
function copiesOf(
  semantics: Semantics,
  { subscriptions }: Closure,
  { topic, fifo, most }: Pick<TopicSource, "topic" | "fifo"> & Partial<TopicSource>,
  own: Readonly<Record<string, string>>,
): MessageState[] {
  const left = (most?.messageAttributes ?? 1) - Object.keys(own).length;
  const others = Array.from({ length: Math.max(0, left) }, (_, index) => [`other-${index + 1}`, "any"]);
  const publication = {
    topic,
    attributes: { ...Object.fromEntries(others), ...own },
    ...(fifo ? { groupId: group } : {}),
  };
  const delivered = afterDelay(semantics, semantics.publish(publication).flat());
  const unreachableQueues = new Set(subscriptions.map(({ queue }) => queue));
  const failed = semantics.publish(publication, { unreachableQueues }).flat();
  const isNew = ({ place }: MessageState): boolean =>
    place.kind === "lost" && place.cause === "undeliverable" && !delivered.some((each) => each.place.kind === "lost");
  return [...delivered, ...failed.filter(isNew)];
}

/** The publishers keep the contract, and give no group if it names none. */
export function sentTo(
  semantics: Semantics,
  { queue, fifo }: Pick<QueueSource, "queue" | "fifo">,
): readonly MessageState[] {
  const message = { queue, ...(fifo ? { groupId: group, deduplicationId: "any" } : {}) };
  return afterDelay(semantics, semantics.send(message).flat());
}

function afterDelay(semantics: Semantics, states: readonly MessageState[]): readonly MessageState[] {
  return states.flatMap((state) => {
    const isDelayed = state.place.kind === "queue" && state.place.status === "delayed";
    return isDelayed ? semantics.step(state, { kind: "delay-passes" }).flat() : [state];
  });
}

const anything = Object.freeze({ prefix: "" });

/** Each choice of one value for each attribute. */
function combinationsOf(
  attributes: NonNullable<TopicSource["attributes"]>,
): readonly Readonly<Record<string, string>>[] {
  return Object.entries(attributes).reduce<readonly Readonly<Record<string, string>>[]>(
    (all, [name, values]) => all.flatMap((each) => values.map((value) => ({ ...each, [name]: value }))),
    [{}],
  );
}

/**
 * Keys that one value of a filter takes. If the value leaves a part open, `word` fills it, because no filter names that
 * word.
 */
function keysTakenBy(value: unknown, word: string): string[] {
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
