import { type Diagnostic, formatPath } from "../diagnostics/diagnostic.ts";
import type { StackResource } from "./stack.ts";

/** Tells which resources a finding of an audit is about. */
export type Attribute = (found: Diagnostic) => readonly StackResource[];

/**
 * A finding is about the resource at its path, `vhosts["/"].queues.orders`. If the path is a part of the deployment,
 * such as `vhosts["/"]`, the finding is about the queues there that its value names. Two parts may hold queues of the
 * same name.
 *
 * @param places the path of each resource, by its URN
 */
export function attributionAmong(
  resources: readonly StackResource[],
  places: ReadonlyMap<string, readonly string[]>,
): Attribute {
  const placed = resources.flatMap((resource) => {
    const place = places.get(resource.urn);
    return place === undefined ? [] : [{ resource, place }];
  });
  const byPath = Map.groupBy(placed, ({ place }) => formatPath(place));
  const byPart = Map.groupBy(placed, ({ place }) => formatPath(place.slice(0, -2)));
  return ({ path, value }) => {
    const own = byPath.get(path);
    if (own !== undefined || !Array.isArray(value)) return (own ?? []).map(({ resource }) => resource);
    const named = Map.groupBy(byPart.get(path) ?? [], ({ place }) => place.at(-1));
    return value.flatMap((name: string) => {
      const all = named.get(name) ?? [];
      const queues = all.filter(({ place }) => place.at(-2) === "queues");
      return (queues.length > 0 ? queues : all).map(({ resource }) => resource);
    });
  };
}
