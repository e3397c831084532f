import type { Separator } from "../plan/names.ts";

/** A key that nothing else has. */
export function freeKey(taken: object, own: string, word = "before"): string {
  const key = `${own}-${word}`;
  return Object.hasOwn(taken, key) ? freeKey(taken, key, word) : key;
}

/** The name with the next free number: `shop.billing.2` after `shop.billing`. */
export function nextGeneration(name: string, separator: Separator, taken: ReadonlySet<string>): string {
  const [, base = name, generation = "1"] = /^(.*?)[.-](\d+)$/.exec(name) ?? [];
  const next = `${base}${separator}${Number(generation) + 1}`;
  return taken.has(next) ? nextGeneration(next, separator, taken) : next;
}
