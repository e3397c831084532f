import { isDeepStrictEqual } from "node:util";

import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";

type Values = Readonly<Record<string, unknown>>;

/** What is compared, and what can be done about it. Arguments cannot be changed. */
const places = {
  queue: {
    what: "what it was made with",
    help: "name in the target what is deployed, the strategy or the version: arguments cannot be changed (docs/changing.md)",
  },
  exchange: {
    what: "what it was made with",
    help: "declare the source as it is deployed: an exchange cannot be changed (docs/changing.md)",
  },
  policy: {
    what: "the policy in force",
    help: "deploy again, and see whether a policy of a higher priority takes its place",
  },
} as const;

/** One diagnostic for each place, with all that differs there, and both values of it. */
export function differences(
  name: string,
  place: keyof typeof places,
  wanted: Values,
  found: Values,
): readonly Diagnostic[] {
  const keys = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].toSorted();
  const notes = keys
    .filter((key) => !isDeepStrictEqual(wanted[key], found[key]))
    .map((key) => difference(key, valueText(wanted[key]), valueText(found[key])));
  return notes.length === 0 ? [] : [differing(name, place, notes)];
}

/** @param notes what differs there, each with both values */
export function differing(name: string, place: keyof typeof places, notes: readonly string[]): Diagnostic {
  const { what, help } = places[place];
  return diagnostic("RD808", {
    path: name,
    message: `${what} differs from what was compiled, for ${name}`,
    notes,
    help,
  });
}

export function difference(key: string, wanted: string, found: string): string {
  return `${key}: compiled is ${wanted}, deployed is ${found}`;
}

function valueText(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
