/**
 * Groups the places of a graph that lead back to each other. Two places have the same number exactly if each can be
 * reached from the other.
 *
 * Kosaraju's algorithm, without recursion. A first walk notes the order in which it leaves the places. A second walk
 * goes against all edges, in the opposite order.
 *
 * @param ways the destinations of each place; a place without any needs an entry, too
 */
export function componentsOf<Place>(ways: ReadonlyMap<Place, readonly Place[]>): ReadonlyMap<Place, number> {
  const edges = [...ways].flatMap(([from, targets]) => targets.map((to) => ({ from, to })));
  const back = new Map([...Map.groupBy(edges, ({ to }) => to)].map(([to, own]) => [to, own.map(({ from }) => from)]));
  const left: Place[] = [];
  const seen = new Set<Place>();
  for (const place of ways.keys()) walk(place, ways, seen, (each) => left.push(each));
  const numbers = new Map<Place, number>();
  const taken = new Set<Place>();
  for (const [number, place] of left.toReversed().entries())
    walk(place, back, taken, (each) => numbers.set(each, number));
  return numbers;
}

/** Visits every unseen place that a place leads to. Reports each place after all the places that it leads to. */
function walk<Place>(
  start: Place,
  ways: ReadonlyMap<Place, readonly Place[]>,
  seen: Set<Place>,
  leave: (place: Place) => void,
): void {
  if (seen.has(start)) return;
  seen.add(start);
  const path = [{ place: start, next: 0 }];
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const targets = ways.get(top.place) ?? [];
    if (top.next === targets.length) {
      leave(top.place);
      path.pop();
      continue;
    }
    const to = targets[top.next++] as Place;
    if (seen.has(to)) continue;
    seen.add(to);
    path.push({ place: to, next: 0 });
  }
}
