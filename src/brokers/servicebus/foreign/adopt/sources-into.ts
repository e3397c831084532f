import { type FoundSource, type Unsaid, leadingInto } from "../../../../adopt/found.ts";
import { filterOf, patternIn } from "../../compile/filter.ts";
import { defaultRuleName, isRuleName, ruleName } from "../../compile/names.ts";
import type { SubscriptionRule } from "../../compile/topology.ts";
import { pathOf, wordsOf } from "../../compile/differences.ts";
import type { FoundEntity } from "../found.ts";

/**
 * The topics whose subscriptions lead to a consumer. A declaration names the subscriptions itself, and says fewer
 * filters than Service Bus. A subscription that it cannot say stays as it is, and goes on leading to the consumer.
 *
 * @param key the name of the consumer in the declaration. Its subscriptions have the same name.
 * @param all the queues and subscriptions of the namespace. They decide the kind of a topic.
 * @param isWhole false for a program, which may leave out a rule `$Default` that lets in everything
 */
export function sourcesInto(
  own: readonly FoundEntity[],
  key: string,
  all: readonly (FoundEntity & { readonly path: string; readonly forwardTo: string | null })[],
  isWhole: boolean,
): { readonly said: readonly FoundSource[]; readonly unsaid: readonly Unsaid[] } {
  const said: FoundSource[] = [];
  const unsaid: Unsaid[] = [];
  for (const each of own) {
    const { topic, name, rules, isAssumed } = each;
    const keys = keysOf(rules);
    const reason = reasonAgainst(each, key);
    if (reason !== null || keys === null) {
      unsaid.push({ place: topic, fact: `the subscription ${name} stays as it is, and is not declared: ${reason}` });
      continue;
    }
    const kinds = all.filter((other) => other.topic === topic).map((other) => keysOf(other.rules));
    const kind = kinds.every((keysOfOther) => keysOfOther === "all") ? "fanout" : "topic";
    if (!isWhole && rules.every((rule) => rule.name !== defaultRuleName))
      unsaid.push({
        place: topic,
        fact: `the input shows no rule ${defaultRuleName} of the subscription ${name}. Azure makes one that lets in every message, and a deployment closes it`,
      });
    if (isAssumed)
      unsaid.push({
        place: pathOf(each),
        fact: `the input shows no rule of it, so it is taken to have Azure's ${defaultRuleName}. If somebody deleted that rule, no message comes by it today`,
      });
    const before = leadingInto(all.flatMap(({ path, forwardTo }) => (forwardTo === topic ? [path] : [])));
    said.push({
      name: topic,
      kind,
      keys,
      isOwn: true,
      from: `the topic ${topic}, with the subscription ${name}${before}`,
    });
  }
  return { said, unsaid };
}

/** The reason that no declaration has this subscription. Null if one has. */
export function reasonAgainst({ topic, name, rules, hasAction }: FoundEntity, key: string): string | null {
  if (!/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(topic)) return "a declaration has no topic of this name";
  if (name !== key) return `a declared one would be named ${key}, and deliver each message a second time`;
  if (hasAction) return "a rule of it changes messages";
  if (rules.length === 0) return "the input shows no rule of it";
  const keys = keysOf(rules);
  if (keys === null) return "its rules let in messages that no routing key describes";
  const unnamed = keys === "all" ? undefined : keys.find((each) => !isRuleName(ruleName(each)));
  return unnamed === undefined
    ? null
    : `no declared rule can have a name from the routing key ${JSON.stringify(unnamed)}`;
}

/** Null if no list of keys lets in the same messages. The name of a declared rule has words for the wildcards. */
function keysOf(rules: readonly SubscriptionRule[]): (FoundSource["keys"] & ("all" | readonly string[])) | null {
  const own = rules.filter(({ filter }) => filter.kind !== "false");
  if (own.some(({ name, filter }) => name === defaultRuleName && filter.kind === "true")) return "all";
  const keys = own.map(({ name, filter }) => {
    if (filter.kind === "correlation") return /(^|\.)[*#](\.|$)/.test(filter.subject) ? null : filter.subject;
    const words = name.split(".").map((word) => (word === "one-word" ? "*" : word === "any-words" ? "#" : word));
    const made = filterOf(words.join("."), "topic");
    if ("filter" in made && wordsOf(made.filter) === wordsOf(filter)) return words.join(".");
    return filter.kind === "sql" ? patternIn(filter.expression) : "#";
  });
  const known = keys.filter((each) => each !== null);
  return known.length < keys.length || known.length === 0 ? null : [...new Set(known)];
}
