/** The patterns of a topic exchange as a tree of words, so that a lookup stays cheap with a million patterns. */
export interface TopicIndex<Item> {
  /** The items with a pattern that matches a routing key, in their given order. */
  readonly match: (routingKey: string) => readonly Item[];
  /**
   * The items with a pattern that certainly matches every key of the given pattern. Only a wildcard that is as wide
   * matches a wildcard of the given pattern. So it does not find "#.*" for "*.#", although "#.*" contains it. Every
   * pattern that it finds contains the given one.
   */
  readonly containing: (pattern: string) => readonly Item[];
  /** The items with a pattern that shares at least one routing key with the given pattern. */
  readonly overlap: (pattern: string) => readonly Item[];
}

interface Node<Item> {
  /** True if the word that leads here is `#`, which takes any further word as well. */
  readonly isHash: boolean;
  readonly words: Map<string, Node<Item>>;
  readonly items: { readonly order: number; readonly item: Item }[];
}

/** `*` stands for one word, `#` for any number of them, none included. Source: `rabbit_exchange_type_topic`. */
export function topicIndex<Item>(
  entries: Iterable<{ readonly pattern: string; readonly item: Item }>,
): TopicIndex<Item> {
  const root: Node<Item> = { isHash: false, words: new Map(), items: [] };
  let order = 0;
  for (const { pattern, item } of entries) {
    let node = root;
    for (const word of wordsOf(pattern)) {
      let next = node.words.get(word);
      if (next === undefined) {
        next = { isHash: word === "#", words: new Map(), items: [] };
        node.words.set(word, next);
      }
      node = next;
    }
    node.items.push({ order: order++, item });
  }
  const itemsOf = (nodes: Iterable<Node<Item>>): readonly Item[] =>
    [...nodes]
      .flatMap(({ items }) => items)
      .sort((left, right) => left.order - right.order)
      .map(({ item }) => item);
  return {
    match: (routingKey) => itemsOf(nodesFor(root, wordsOf(routingKey), ["*"])),
    // Only a # contains a #, because `*` stands for exactly one word.
    containing: (pattern) => itemsOf(nodesFor(root, wordsOf(pattern), [])),
    overlap: (pattern) => itemsOf(nodesLike(root, wordsOf(pattern))),
  };
}

/** The empty key has no word, so `*` does not match it. Source: `rabbit_db_topic_exchange:split_topic_key_binary/1`. */
function wordsOf(key: string): readonly string[] {
  return key === "" ? [] : key.split(".");
}

/**
 * Finds the places in the tree where a whole key can end. It goes through the key word by word.
 *
 * @param takenByHash the other words of the tree that take the word `#`; in a key, `#` is a word like others
 */
function nodesFor<Item>(root: Node<Item>, words: readonly string[], takenByHash: readonly string[]): Set<Node<Item>> {
  let places = withHashes(new Set([root]));
  for (const word of words) {
    const next = new Set<Node<Item>>();
    for (const node of places) {
      for (const part of [word, ...(word === "#" ? takenByHash : ["*"])]) {
        const child = node.words.get(part);
        if (child !== undefined) next.add(child);
      }
      if (node.isHash) next.add(node);
    }
    places = withHashes(next);
  }
  return places;
}

/**
 * Finds the nodes where a key ends that both a stored pattern and the given one match. It walks through tree and
 * pattern together, word by word.
 */
function nodesLike<Item>(root: Node<Item>, pattern: readonly string[]): Set<Node<Item>> {
  const ends = new Set<Node<Item>>();
  const seen = new Map<Node<Item>, Set<number>>();
  const open: [Node<Item>, number][] = [[root, 0]];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const [node, next] = place;
    const known = seen.get(node) ?? new Set();
    if (known.has(next)) continue;
    seen.set(node, known.add(next));
    if (next === pattern.length) ends.add(node);
    const word = pattern[next];
    // A `#` on either side takes any word of the other side, or none.
    if (word !== undefined && (node.isHash || word === "#")) open.push([node, next + 1]);
    const isWild = word === "#" || word === "*";
    // A written-out word needs no look at other written-out words.
    for (const part of isWild ? node.words.keys() : ["#", "*", ...(word === undefined ? [] : [word])]) {
      const child = node.words.get(part);
      if (child === undefined) continue;
      if (part === "#" || word === "#") open.push([child, next]);
      else if (word !== undefined) open.push([child, next + 1]);
    }
  }
  return ends;
}

/** Adds the places that `#` leads to without taking a word. The loop also visits the places that it adds to the set. */
function withHashes<Item>(places: Set<Node<Item>>): Set<Node<Item>> {
  for (const node of places) {
    const child = node.words.get("#");
    if (child !== undefined) places.add(child);
  }
  return places;
}
