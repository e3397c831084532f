import { brokerOf } from "../brokers/index.ts";
import { sourceName } from "../plan/names.ts";
import { nameOfSystem } from "../plan/plan.ts";
import type { Deployed } from "./deployed.ts";

type Side = Pick<Deployed, "system" | "target" | "sourceNames">;

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
  const { consumers } = side.system;
  const name = nameOfSystem(side.system);
  const declared = declaredNames(side);
  const taken: Record<string, readonly string[]> = { ...(Object.hasOwn(before, name) ? before[name] : {}) };
  for (const [consumer, { from = {}, formerly = consumer }] of Object.entries(consumers)) {
    const known = Object.hasOwn(taken, consumer) ? consumer : formerly;
    const all = Object.hasOwn(taken, known) ? (taken[known] ?? []) : [];
    const kept = all.filter((source) => !declared.has(nameOfTaken(side, source)));
    taken[consumer] = [...new Set([...kept, ...Object.keys(from).map((key) => takenName(side, key))])];
  }
  return { ...before, [name]: taken };
}

export function declaredNames(side: Side): ReadonlySet<string> {
  return new Set(Object.keys(side.system.sources).map((key) => nameOnBroker(side, key)));
}

/** The name of a declared source on the broker, which may add a suffix. */
export function nameOnBroker({ system, target, sourceNames }: Side, key: string): string {
  const { sources, names } = system;
  const named = { system: nameOfSystem(system), sources, ...(names && { names }) };
  return sourceNames.get(key) ?? sourceName(named, key, brokerOf(target).separator);
}

function takenName(side: Side, key: string): string {
  const name = nameOnBroker(side, key);
  return name === defaultName(side, key) ? key : `${key} (${name})`;
}

export function keyOfTaken(taken: string): string {
  return taken.replace(/ \(.*\)$/, "");
}

export function nameOfTaken(side: Side, taken: string): string {
  const key = keyOfTaken(taken);
  return taken === key ? defaultName(side, key) : taken.slice(key.length + 2, -1);
}

function defaultName({ system, target }: Pick<Side, "system" | "target">, key: string): string {
  return `${nameOfSystem(system)}${brokerOf(target).separator}${key}`;
}
