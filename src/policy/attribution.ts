import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { StackResource } from "./judge-stack.ts";

/**
 * The resources that a finding of an audit is about.
 *
 * A finding names a queue by its place at the broker, `vhosts["/"].queues.orders`, or many of them in its value. Of several
 * resources with one name it is the one of which most is named in the place.
 */
export function resourcesNamedBy(
  { path, value }: Diagnostic,
  resources: readonly StackResource[],
): readonly StackResource[] {
  const place = segmentsOf(path);
  const names = Array.isArray(value) ? value.map(String) : place.slice(-1);
  return names.flatMap((name) => {
    const own = resources.filter(({ properties }) => properties["name"] === name);
    const [best] = own.toSorted((one, other) => likeness(other, place) - likeness(one, place));
    return best === undefined ? [] : [best];
  });
}

/** The parts of a path as `formatPath` writes it. */
function segmentsOf(path: string): string[] {
  return [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|[^.[\]]+/g)].map(([whole, quoted]) =>
    quoted === undefined ? whole : (JSON.parse(`"${quoted}"`) as string),
  );
}

/** How much of the resource is named: its kind, where it is, and the values that it was given. */
function likeness({ type, provider, properties }: StackResource, place: readonly string[]): number {
  const kind = `${type.split(":").at(-1)?.toLowerCase()}s`;
  const values = [...Object.values(properties), provider?.split("::").at(-2)];
  const isNamed = (segment: string): boolean =>
    values.some(
      (each) => segment === each || segment.startsWith(`${String(each)}: `) || segment.endsWith(`: ${String(each)}`),
    );
  return place.filter((segment) => segment === kind || isNamed(segment)).length;
}
