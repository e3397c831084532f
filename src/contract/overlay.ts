/** All items of both lists, each key once. Of two items with one key the second list has the one that counts. */
export function overlay<Item>(under: readonly Item[], over: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map([...under, ...over].map((item) => [keyOf(item), item])).values()];
}
