import type { System } from "../declare/system.ts";

/** By system and consumer, the sources whose bindings may still be there: `{ shop: { billing: ["orders"] } }`. */
export type TakenSources = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/**
 * Adds what a declaration takes from which source. A consumer gives a source up only where both are declared, and it no longer asks for it.
 * Where a consumer or a source is left out, the binding may still be there: it was kept, or the update was cut off.
 *
 * @param before what was taken by all declarations before
 */
export function takenAfter(before: TakenSources, { name, sources, consumers }: System): TakenSources {
  const taken: Record<string, readonly string[]> = { ...before[name] };
  for (const [consumer, { from }] of Object.entries(consumers)) {
    const kept = (taken[consumer] ?? []).filter((source) => sources[source] === undefined);
    taken[consumer] = [...new Set([...kept, ...Object.keys(from)])];
  }
  return { ...before, [name]: taken };
}

/** What a component's output has of it, as far as it is of this form. */
export function readTaken(output: unknown): TakenSources {
  return typeof output === "object" && output !== null ? (output as TakenSources) : {};
}
