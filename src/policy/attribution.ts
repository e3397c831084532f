import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { formatPath } from "../diagnostics/diagnostic.ts";
import type { StackResource } from "./judge-stack.ts";

/** Tells which resources a finding of an audit is about. */
export type Attribute = (found: Diagnostic) => readonly StackResource[];

/**
 * A finding is about what stands at its path, `vhosts["/"].queues.orders`, or where that is only a part of the deployment, such as
 * `vhosts["/"]`, about the queues there that its value names. Two parts may hold things of the same name.
 *
 * @param places where each resource is by the words of findings, by its URN
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
