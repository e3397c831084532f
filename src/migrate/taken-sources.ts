import { brokerOf } from "../brokers/index.ts";
import { sourceName } from "../plan/names.ts";
import type { Changed } from "./deployed.ts";

type Side = Pick<Changed, "system" | "target">;

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
export function takenAfter(before: TakenSources, side: Side): TakenSources {
  const { name, consumers } = side.system;
  const declared = declaredSources(side);
  const taken: Record<string, readonly string[]> = { ...(Object.hasOwn(before, name) ? before[name] : {}) };
  for (const [consumer, { from = {} }] of Object.entries(consumers)) {
    const all = Object.hasOwn(taken, consumer) ? (taken[consumer] ?? []) : [];
    const kept = all.filter((source) => !declared.has(source));
    taken[consumer] = [...new Set([...kept, ...Object.keys(from).map((key) => takenName(side, key))])];
  }
  return { ...before, [name]: taken };
}

/** The names of all sources of a declaration, as `TakenSources` has them. */
export function declaredSources(side: Side): ReadonlySet<string> {
  return new Set(Object.keys(side.system.sources).map((key) => takenName(side, key)));
}

function takenName(side: Side, key: string): string {
  const { name: system, sources, names } = side.system;
  const name = sourceName({ system, sources, ...(names && { names }) }, key, brokerOf(side.target).separator);
  return name === defaultName(side, key) ? key : `${key} (${name})`;
}

/** The name on the broker that a taken source had. Null if the source had another key. */
export function nameOfTaken(side: Side, taken: string, key: string): string | null {
  if (taken === key) return defaultName(side, key);
  return taken.startsWith(`${key} (`) && taken.endsWith(")") ? taken.slice(key.length + 2, -1) : null;
}

function defaultName({ system, target }: Side, key: string): string {
  return `${system.name}${brokerOf(target).separator}${key}`;
}

/** Reads the entries of a component's output that have this form. */
export function readTaken(output: unknown): TakenSources {
  return typeof output === "object" && output !== null ? (output as TakenSources) : {};
}
