import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { StackResource } from "./judge-stack.ts";

/**
 * The resources that a finding of an audit is about.
 *
 * A finding names a queue by its place at the broker, `vhosts["/"].queues.orders`, or many of them in its value. Of several
 * resources with one name it is the one of which most is named in the place.
 *
 * @param namesOf by what names the findings of the broker speak of a resource
 */
export function resourcesNamedBy(
  { path, value }: Diagnostic,
  resources: readonly StackResource[],
  namesOf: (resource: StackResource) => readonly string[],
): readonly StackResource[] {
  const place = segmentsOf(path);
  const names = Array.isArray(value) ? value.map(String) : place.slice(-1);
  return names.flatMap((name) => {
    const own = resources.filter((each) => namesOf(each).at(-1) === name);
    const likenessOf = (each: StackResource): number => likeness(each, namesOf(each), place);
    const [best] = own.toSorted((one, other) => likenessOf(other) - likenessOf(one));
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
function likeness(
  { type, provider, properties }: StackResource,
  names: readonly string[],
  place: readonly string[],
): number {
  const kind = `${type.split(":").at(-1)?.toLowerCase()}s`;
  const values = [...Object.values(properties), ...names, provider?.split("::").at(-2)];
  const isNamed = (segment: string): boolean =>
    values.some(
      (each) => segment === each || segment.startsWith(`${String(each)}: `) || segment.endsWith(`: ${String(each)}`),
    );
  return place.filter((segment) => segment === kind || isNamed(segment)).length;
}
