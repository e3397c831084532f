/** Foreign data as a word of a sentence or a name. `String` throws if a mapping has a key toString or valueOf. */
export function wordOf(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}
