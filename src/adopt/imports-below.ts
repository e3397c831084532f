import type { ImportEntry, Imports, Move, Stay, Unsaid } from "./found.ts";

/** A declared resource, and its counterpart on the broker. */
export interface Importable {
  readonly type: string;
  readonly logicalName: string;
  /** Null if the broker has no such resource. The deployment makes it. */
  readonly id: string | null;
  /** The reason that it cannot be taken over as it is; null for none. */
  readonly reason: string | null;
  /** True if the deployment overwrites it in spite of the reason. */
  readonly isOverwritten?: boolean;
  readonly place: string;
  /** The consumer that it belongs to. Left out for a shared one, or if no consumer moves. */
  readonly consumer?: string | null;
}

/**
 * The entries that put each resource that is there below its component. A resource with a reason against it is left out,
 * and so are those of a consumer that moves to a new queue.
 *
 * @param component the name of the component in the program
 */
export function importsBelow(
  type: string,
  component: string,
  all: readonly Importable[],
  moves: readonly Move[] = [],
  stays: readonly Stay[] = [],
): Imports {
  const moved = new Set(moves.map(({ consumer }) => consumer));
  const staying = all.filter(({ consumer = null }) => consumer === null || !moved.has(consumer));
  const taken = staying.flatMap(({ type: own, logicalName, id, reason }, index): readonly ImportEntry[] =>
    id === null || reason !== null
      ? []
      : [{ type: own, name: `resource${index}`, logicalName: `${component}-${logicalName}`, id, parent: "component" }],
  );
  return {
    entries: [{ type, name: "component", logicalName: component, component: true }, ...taken],
    present: staying.flatMap(({ type: own, id, reason, isOverwritten = false }) =>
      id === null || (reason !== null && !isOverwritten) ? [] : [{ type: own, id }],
    ),
    declared: all.length,
    moves,
    stays,
    left: all.flatMap(({ id, place, reason }): readonly Unsaid[] =>
      id === null || reason === null ? [] : [{ place, fact: reason }],
    ),
  };
}
