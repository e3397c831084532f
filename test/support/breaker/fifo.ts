/** A queue that never moves its items, however long it is. */
export interface Fifo<Item> {
  readonly push: (item: Item) => void;
  readonly shift: () => Item;
  readonly first: () => Item | undefined;
  readonly length: () => number;
}

export function createFifo<Item>(): Fifo<Item> {
  const items: Item[] = [];
  let head = 0;
  return {
    push: (item) => void items.push(item),
    shift: () => items[head++] as Item,
    first: () => items[head],
    length: () => items.length - head,
  };
}
