import type { PulumiResource } from "./pulumi-resource.ts";

/**
 * What a preview does not know of a resource: nothing; a value of its own, which decides about what the resource is connected with; or
 * where it leads, so that it may be connected with anything.
 */
export type Unknown = "nothing" | "a value" | "where it leads";

/** A resource, and what it is connected with. */
export interface Linked {
  readonly resource: PulumiResource;
  /** What no message leaves, such as a virtual host; null where that is not known. */
  readonly scope: string | null;
  /** The queues, exchanges and the like that it is, leads to or decides about. Resources with one of them in common are connected. */
  readonly places: readonly string[];
  readonly unknown: Unknown;
}

/**
 * The resources about which everything that is found is certain, though a preview does not know all of a stack: what is found about a
 * resource depends on nothing but what it is connected with, in whatever direction and over however many others.
 */
export function certainOf(all: readonly Linked[]): readonly PulumiResource[] {
  const isLost = ({ unknown }: Linked): boolean => unknown === "where it leads";
  if (all.some((each) => isLost(each) && each.scope === null)) return [];
  return [...Map.groupBy(all, ({ scope }) => scope).values()].flatMap((within) =>
    within.some(isLost) ? [] : certainWithin(within),
  );
}

function certainWithin(all: readonly Linked[]): readonly PulumiResource[] {
  const byPlace = new Map<string, Linked[]>();
  for (const each of all) {
    for (const place of each.places) {
      const known = byPlace.get(place);
      if (known === undefined) byPlace.set(place, [each]);
      else known.push(each);
    }
  }
  const uncertain = new Set(all.filter(({ unknown }) => unknown === "a value"));
  const places = new Set<string>();
  // What is added to a set is still met by the loop over it.
  for (const each of uncertain) {
    for (const place of each.places) {
      if (places.has(place)) continue;
      places.add(place);
      for (const neighbour of byPlace.get(place) ?? []) uncertain.add(neighbour);
    }
  }
  return all.filter((each) => !uncertain.has(each)).map(({ resource }) => resource);
}
