/** True if a routing key matches a topic pattern: words between dots, `*` for one word, `#` for any number of them. */
export function matchesPattern(pattern: string, key: string): boolean {
  return matches(pattern.split("."), key.split("."));
}

function matches(pattern: readonly string[], words: readonly string[]): boolean {
  const [first, ...others] = pattern;
  if (first === undefined) return words.length === 0;
  if (first === "#") return words.some((_, count) => matches(others, words.slice(count))) || matches(others, []);
  return words.length > 0 && (first === "*" || first === words[0]) && matches(others, words.slice(1));
}

/** True if a consumer asks for a routing key. */
export function isDeclared(routingKeys: readonly string[] | "all", key: string): boolean {
  return routingKeys === "all" || routingKeys.some((pattern) => matchesPattern(pattern, key));
}

/** Examples of the routing keys that a consumer asks for, each with the pattern and the key in words. */
export function declaredKeys(routingKeys: readonly string[] | "all", word: string): { key: string; inWords: string }[] {
  return (routingKeys === "all" ? ["#"] : routingKeys).flatMap((pattern) =>
    keysLike(pattern, word).map((key) => ({ key, inWords: key === pattern ? key : `${pattern} (${key})` })),
  );
}

/**
 * Routing keys that match a topic pattern: with no, one and two words for `#`, and one for `*`. No key is empty.
 *
 * @param word stands for each wildcard
 */
export function keysLike(pattern: string, word: string): string[] {
  const filled = [0, 1, 2].map((count) =>
    pattern
      .split(".")
      .flatMap((each) => (each === "#" ? Array.from({ length: count }, () => word) : each === "*" ? [word] : [each]))
      .join("."),
  );
  return [...new Set(filled)].filter((key) => key !== "");
}

/** A word that occurs nowhere in the data, so that no filter and no pattern names it. */
export function wordAbsentFrom(data: unknown): string {
  const named = JSON.stringify(data);
  let word = "example";
  while (named.includes(word)) word += "x";
  return word;
}
