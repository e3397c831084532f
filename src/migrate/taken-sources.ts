import type { System } from "../declare/system.ts";
import { sourceName } from "../plan/names.ts";

/**
 * By system and consumer, the sources with bindings that may still exist: `{ shop: { billing: ["orders"] } }`. A source
 * with a name of its own is told apart by that, too: `orders (events.orders)`.
 */
export type TakenSources = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/**
 * Adds the sources of a declaration. A consumer gives up a source only if both are declared and it no longer asks for
 * the source. If a declaration lacks the consumer or the source, the binding may still exist: it was kept, or the
 * update was cut off.
 *
 * @param before the sources in all earlier declarations
 */
export function takenAfter(before: TakenSources, system: System): TakenSources {
  const { name, consumers } = system;
  const declared = declaredSources(system);
  const taken: Record<string, readonly string[]> = { ...before[name] };
  for (const [consumer, { from = {} }] of Object.entries(consumers)) {
    const kept = (taken[consumer] ?? []).filter((source) => !declared.has(source));
    taken[consumer] = [...new Set([...kept, ...Object.keys(from).map((key) => takenName(system, key))])];
  }
  return { ...before, [name]: taken };
}

/** The names of all sources of a declaration, as `TakenSources` has them. */
export function declaredSources(system: System): ReadonlySet<string> {
  return new Set(Object.keys(system.sources).map((key) => takenName(system, key)));
}

function takenName({ name: system, sources, names }: System, key: string): string {
  const name = sourceName({ system, sources, names }, key, ".");
  return name === `${system}.${key}` ? key : `${key} (${name})`;
}

/** Reads the entries of a component's output that have this form. */
export function readTaken(output: unknown): TakenSources {
  return typeof output === "object" && output !== null ? (output as TakenSources) : {};
}
