import { anyRun, fitsWildcards } from "../declare/wildcards.ts";
import { maskCredentials } from "../diagnostics/mask-credentials.ts";
import { visible } from "../diagnostics/visible.ts";
import type { Violation } from "./rule.ts";
import type { Selection } from "./settings.ts";

/**
 * Takes exclusions and waivers into account, and writes the other violations of a resource as lines for a terminal.
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
    return [[what, ...judged.notes, `fix: ${help}`].map(fitLine).join("\n")];
  });
}

/**
 * Decides whether a resource with these names is judged, and collects the notes of its expired waivers.
 *
 * @returns null where it is not selected, or waived
 */
export function judgedAs(
  names: readonly string[],
  { include, exclude, waivers }: Selection,
  today: string,
): { readonly notes: readonly string[] } | null {
  const fits = (pattern: string): boolean => {
    // In a pattern, `*` stands for any number of characters.
    const parts = [...pattern].map((character) => (character === "*" ? anyRun : character));
    return names.some((name) => fitsWildcards(parts, name));
  };
  if (!include.some(fits) || exclude.some(fits)) return null;
  const own = waivers.filter((waiver) => fits(waiver.resource));
  return own.some(({ expires }) => expires >= today)
    ? null
    : { notes: own.map(({ reason, expires }) => `the waiver for it expired on ${expires}; its reason was: ${reason}`) };
}

/** A line that is safe in a terminal: a program chooses the names in it. */
export function fitLine(line: string): string {
  return maskCredentials(visible(line));
}

/** The day in UTC, as `2027-01-31`. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}
