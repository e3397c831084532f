/** A value with a change in one place of it. */
export interface Change<Value> {
  /** The place, and the fault there. */
  readonly what: string;
  readonly value: Value;
}

/**
 * Gives every way to change plain data in one place. A text, a number or a truth value gets another value. A list loses
 * an entry, or swaps it with the next. An operation is done twice. A range of two numbers moves as a whole, up and
 * down. It never gets wider, because no recording could reveal that.
 *
 * @param skip names of fields that stay as they are
 * @param shift the distance that a range or a bound in milliseconds moves
 */
export function onePlaceChangesOf<Value>(
  value: Value,
  { skip = [], shift = 1 }: { readonly skip?: readonly string[]; readonly shift?: number } = {},
  at = "",
): readonly Change<Value>[] {
  const changes = (found: unknown, place: string): readonly Change<unknown>[] => {
    if (typeof found === "string") return [{ what: `${place}: another text`, value: `${found}-` }];
    // A bound on time moves as far as a range: a slow machine could not show a difference of a millisecond.
    if (typeof found === "number")
      return [{ what: `${place}: another number`, value: found + (place.endsWith("Ms") ? shift : 1) }];
    if (typeof found === "boolean") return [{ what: `${place}: turned over`, value: !found }];
    if (found === null) return [{ what: `${place}: something in place of nothing`, value: { from: 1, to: 1 } }];
    if (Array.isArray(found)) return changesOfList(found, place, changes);
    if (typeof found !== "object") return [];
    if (isRange(found)) return rangesBeside(found, shift, place);
    return Object.entries(found)
      .filter(([name]) => !skip.includes(name))
      .flatMap(([name, each]) =>
        changes(each, `${place}.${name}`).map((change) => ({ ...change, value: { ...found, [name]: change.value } })),
      );
  };
  return changes(value, at) as readonly Change<Value>[];
}

function changesOfList(
  list: readonly unknown[],
  place: string,
  changes: (found: unknown, place: string) => readonly Change<unknown>[],
): readonly Change<unknown>[] {
  return list.flatMap((entry, index) => {
    const [before, after] = [list.slice(0, index), list.slice(index + 1)];
    const here = `${place}[${index}]`;
    return [
      ...changes(entry, here).map((change) => ({ ...change, value: [...before, change.value, ...after] })),
      ...(Array.isArray(entry) ? [] : [{ what: `${here}: missing`, value: [...before, ...after] }]),
      ...(isOperation(entry) ? [{ what: `${here}: twice`, value: [...before, entry, entry, ...after] }] : []),
      ...((isOperation(entry) || Array.isArray(entry)) && after.length > 0 && !isEqualText(entry, after[0])
        ? [{ what: `${here}: after the next`, value: [...before, after[0], entry, ...after.slice(1)] }]
        : []),
    ];
  });
}

function isEqualText(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isOperation(entry: unknown): boolean {
  return typeof entry === "object" && entry !== null && "operation" in entry;
}

function isRange(found: object): found is { readonly from: number; readonly to: number } {
  return "from" in found && "to" in found && typeof found.from === "number";
}

function rangesBeside(
  { from, to }: { readonly from: number; readonly to: number },
  shift: number,
  place: string,
): readonly Change<unknown>[] {
  return [
    { what: `${place}: later`, value: { from: to + shift, to: to + shift + (to - from) } },
    { what: `${place}: sooner`, value: { from: from - shift - (to - from), to: from - shift } },
  ];
}
