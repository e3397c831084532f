import type { PulumiResource } from "./pulumi-resource.ts";

/**
 * The unknown part of a resource in a preview. `a value` decides about connected resources. `where it leads` means that
 * it may be connected with anything.
 */
export type Unknown = "nothing" | "a value" | "where it leads";

export interface Linked {
  readonly resource: PulumiResource;
  /** A boundary that no message crosses, such as a virtual host. Null if unknown. */
  readonly scope: string | null;
  /**
   * The queues, exchanges and so on that it is, leads to or decides about. Resources with a common place are connected.
   */
  readonly places: readonly string[];
  readonly unknown: Unknown;
}

/**
 * The resources with only certain findings, although a preview does not know all of a stack. A finding depends only on
 * connected resources, in any direction and over any number of others.
 */
export function certainOf(all: readonly Linked[]): readonly PulumiResource[] {
  const isLost = ({ unknown }: Linked): boolean => unknown === "where it leads";
  if (all.some((each) => isLost(each) && each.scope === null)) return [];
  return [...Map.groupBy(all, ({ scope }) => scope).values()].flatMap((within) =>
    within.some(isLost) ? [] : certainWithin(within),
  );
}

function certainWithin(all: readonly Linked[]): readonly PulumiResource[] {
  const connections = all.flatMap((each) => each.places.map((place) => ({ place, each })));
  const byPlace = Map.groupBy(connections, ({ place }) => place);
  const uncertain = new Set(all.filter(({ unknown }) => unknown === "a value"));
  const places = new Set<string>();
  // The loop also reaches elements that are added to the set while it runs.
  for (const each of uncertain) {
    for (const place of each.places) {
      if (places.has(place)) continue;
      places.add(place);
      for (const { each: neighbour } of byPlace.get(place) ?? []) uncertain.add(neighbour);
    }
  }
  return all.filter((each) => !uncertain.has(each)).map(({ resource }) => resource);
}
