import { matchesName } from "./name-pattern.ts";
import type { Violation } from "./rule.ts";
import type { Selection, Waiver } from "./settings.ts";

/**
 * What is left of a resource's violations when exclusions and waivers have been taken into account, as Pulumi is to show it.
 *
 * A waiver holds to the end of its last day in UTC. After it the violation is back, and says that it was waived.
 *
 * @param resource the name of the resource; that of its part is added to it, `shop.billing`
 * @param today as `2027-01-31`
 */
export function reportedOf(
  violations: readonly Violation[],
  resource: string,
  { include, exclude, waivers }: Selection,
  today: string,
): readonly string[] {
  return violations.flatMap(({ part, message, help }) => {
    const names = part === null ? [resource] : [resource, `${resource}.${part}`];
    const judged = judgedAs(names, { include, exclude, waivers }, today);
    if (judged === null) return [];
    const what = part === null ? message : `${part}: ${message}`;
    return [[what, ...judged.notes, `fix: ${help}`].join("\n")];
  });
}

/**
 * Whether something with these names is judged, and what is to be said with it.
 *
 * @returns null where it is not selected, or waived
 */
export function judgedAs(
  names: readonly string[],
  { include, exclude, waivers }: Selection,
  today: string,
): { readonly notes: readonly string[] } | null {
  const fits = (pattern: string): boolean => names.some((name) => matchesName(pattern, name));
  if (!include.some(fits) || exclude.some(fits)) return null;
  const own = waivers.filter((waiver) => fits(waiver.resource));
  return own.some(({ expires }) => expires >= today) ? null : { notes: own.map(expiryNote) };
}

function expiryNote({ reason, expires }: Waiver): string {
  return `the waiver for it expired on ${expires}; its reason was: ${reason}`;
}
