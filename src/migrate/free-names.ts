import type { Separator } from "../plan/names.ts";

/** A key that nothing else has. */
export function freeKey(taken: object, own: string, word = "before"): string {
  const key = `${own}-${word}`;
  return Object.hasOwn(taken, key) ? freeKey(taken, key, word) : key;
}

/** The name with the next free number: `shop.billing.2` after `shop.billing`. A year at the end is no such number. */
export function nextGeneration(name: string, separator: Separator, taken: ReadonlySet<string>): string {
  const [last = "", ...others] = name.split(separator).toReversed();
  const isNumbered = others.length > 0 && /^\d{1,3}$/.test(last);
  const base = isNumbered ? others.toReversed().join(separator) : name;
  const next = `${base}${separator}${isNumbered ? Number(last) + 1 : 2}`;
  return taken.has(next) ? nextGeneration(next, separator, taken) : next;
}
