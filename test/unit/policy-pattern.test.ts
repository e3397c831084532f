import { expect, test } from "vitest";

import { patternTestOf } from "../../src/brokers/rabbitmq/compile/policy-pattern.ts";

test.each<readonly [pattern: string, matches: readonly string[], others: readonly string[]]>([
  ["^shop\\.", ["shop.billing"], ["my.shop.billing", "shopping"]],
  ["dlq", ["a.dlq.b", "dlq"], ["dl.q"]],
  ["^(?!amq\\.).*", ["orders", "x.amq.y", ""], ["amq.topic"]],
  ["^(?!amq\\.|federation:)(?!shop\\.)\\w+", ["orders"], ["amq.topic", "federation:x", "shop.billing"]],
  ["^(?=shop\\.)(?:.*\\.dead|.*\\.failed)$", ["shop.billing.dead"], ["store.billing.dead", "shop.billing"]],
  ["(?i)^SHOP", ["shop.billing", "Shop"], ["my shop"]],
  ["\\Qa.b\\E$", ["a.b", "x.a.b"], ["a-b"]],
  ["\\Ashop\\z", ["shop"], ["shops"]],
  ["^größe[é-ü]?$", ["größe", "größeö"], ["grosse"]],
  ["^[[:alpha:]_-]{2,3}$", ["ab", "a-_"], ["a", "a1"]],
])("%s", (pattern, matches, others) => {
  const matching = patternTestOf(pattern);
  expect(matches.filter((name) => matching?.(name) !== true)).toEqual([]);
  expect(others.filter((name) => matching?.(name) !== false)).toEqual([]);
});

test.each(["a(?!b)", "^(?!a)b|c", "(a)\\1", "a++", "(?>a)b", "(?<=a)b", "(", "\\p{L}", "^(?!a"])(
  "%s is unreadable, and its meaning is not guessed",
  (pattern) => expect(patternTestOf(pattern)).toBeNull(),
);

test.each(["^(\\w+_?)+\\.dlq$", "^(a|a)*$", "^(?!(x+x+)+y)(.*)*!$", "(.*){1,32}[bc]"])(
  "%s ends quickly on a name of 10,000 characters",
  (pattern) => expect(patternTestOf(pattern)?.("a".repeat(10_000))).toBeTypeOf("boolean"),
);
