import { type Document, isMap, isNode, isPair, isScalar, isSeq } from "yaml";

/**
 * The offset of the first key that its mapping has twice; null if there is none.
 *
 * The YAML reader's own check compares every key with every other, which takes minutes for 100,000 keys.
 */
export function duplicateInYaml(document: Document.Parsed): number | null {
  const open: unknown[] = [document.contents];
  while (open.length > 0) {
    const node = open.pop();
    if (isPair(node)) open.push(node.value, node.key);
    else if (isSeq(node)) for (const item of node.items.toReversed()) open.push(item);
    else if (isMap(node)) {
      const keys = new Set<unknown>();
      for (const { key } of node.items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) return isNode(key) ? (key.range?.[0] ?? 0) : 0;
        keys.add(key.value);
      }
      for (const pair of node.items.toReversed()) open.push(pair);
    }
  }
  return null;
}

/** The same for a well-formed JSON text. It needs no tree. */
export function duplicateInJson(text: string): number | null {
  const open: (Set<string> | null)[] = [];
  let isKey = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{" || character === "[") {
      open.push(character === "{" ? new Set() : null);
      isKey = character === "{";
    } else if (character === "}" || character === "]") open.pop();
    else if (character === ",") isKey = open.at(-1) !== null;
    else if (character === '"') {
      const end = stringEnd(text, at);
      const keys = isKey ? open.at(-1) : null;
      if (keys !== null && keys !== undefined) {
        const key = JSON.parse(text.slice(at, end)) as string;
        if (keys.has(key)) return at;
        keys.add(key);
      }
      isKey = false;
      at = end - 1;
    }
  }
  return null;
}

/** A quotation mark ends a text, unless an odd number of backslashes precedes it. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (text[before - 1] === "\\") before -= 1;
    if ((at - before) % 2 === 0) return at + 1;
  }
  return text.length;
}
