import type { FoundSource, Unsaid } from "../../../../adopt/found.ts";
import { filterOf } from "../../compile/filter.ts";
import { defaultRuleName } from "../../compile/names.ts";
import type { SubscriptionRule } from "../../compile/topology.ts";
import { wordsOf } from "../../compile/differences.ts";
import type { FoundEntity } from "../found.ts";

/**
 * The topics whose subscriptions lead to a consumer. A declaration names the subscriptions itself, and says fewer
 * filters than Service Bus. A subscription that it cannot say stays as it is, and goes on leading to the consumer.
 *
 * @param key the name of the consumer in the declaration. Its subscriptions have the same name.
 * @param all the subscriptions of the namespace. They decide the kind of a topic.
 */
export function sourcesInto(
  own: readonly FoundEntity[],
  key: string,
  all: readonly FoundEntity[],
): { readonly said: readonly FoundSource[]; readonly unsaid: readonly Unsaid[] } {
  const said: FoundSource[] = [];
  const unsaid: Unsaid[] = [];
  for (const { topic, name, rules, hasAction } of own) {
    const keys = keysOf(rules);
    const reason = !/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(topic)
      ? "a declaration has no topic of this name"
      : name !== key
        ? `a declared one would be named ${key}, and deliver each message a second time`
        : hasAction
          ? "a rule of it changes messages"
          : keys === null
            ? "its rules let in messages that no routing key describes"
            : null;
    if (reason !== null || keys === null) {
      unsaid.push({ place: topic, fact: `the subscription ${name} stays as it is, and is not declared: ${reason}` });
      continue;
    }
    const kinds = all.filter((each) => each.topic === topic).map((each) => keysOf(each.rules));
    const kind = kinds.every((each) => each === "all") ? "fanout" : "topic";
    said.push({ name: topic, kind, keys, isOwn: true, from: `the topic ${topic}, with the subscription ${name}` });
  }
  return { said, unsaid };
}

/** Null if no list of keys makes the same rules. The name of a declared rule has words for the wildcards. */
function keysOf(rules: readonly SubscriptionRule[]): (FoundSource["keys"] & ("all" | readonly string[])) | null {
  const own = rules.filter(({ filter }) => filter.kind !== "false");
  if (own.some(({ name, filter }) => name === defaultRuleName && filter.kind === "true"))
    return own.length === 1 ? "all" : null;
  const keys = own.map(({ name, filter }) => {
    if (filter.kind === "correlation") return /(^|\.)[*#](\.|$)/.test(filter.subject) ? null : filter.subject;
    const words = name.split(".").map((word) => (word === "one-word" ? "*" : word === "any-words" ? "#" : word));
    const made = filterOf(words.join("."), "topic");
    return "filter" in made && wordsOf(made.filter) === wordsOf(filter) ? words.join(".") : null;
  });
  const known = keys.filter((each) => each !== null);
  return known.length < keys.length || known.length === 0 ? null : known;
}
