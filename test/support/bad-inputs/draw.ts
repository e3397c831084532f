/** Random numbers from a seed: the same seed draws the same case, on any machine. */
export interface Draw {
  readonly below: (bound: number) => number;
  readonly of: <Item>(items: readonly Item[]) => Item;
}

/** Source of the generator: "mulberry32", in the public domain. */
export function drawBy(seed: number): Draw {
  let state = seed >>> 0;
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
  return { below, of: (items) => items[below(items.length)] as never };
}
