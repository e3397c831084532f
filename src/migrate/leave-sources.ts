import { brokerOf } from "../brokers/index.ts";
import type { Consumer, System } from "../declare/system.ts";
import { sourceName } from "../plan/names.ts";
import { nameOfSystem } from "../plan/plan.ts";
import { type Deployed, partKey } from "./deployed.ts";
import { freeKey, nextGeneration } from "./free-names.ts";
import { differingParts } from "./refuse-change.ts";
import { goneSources } from "./sources-in-use.ts";
import { declaredNames, keyOfTaken, nameOfTaken, nameOnBroker, takenAfter } from "./taken-sources.ts";

type Source = System["sources"][string];
type Taken = NonNullable<Consumer["from"]>[string];

/** A source that its publishers leave, because its name or its settings cannot change in place. */
export interface LeftSource {
  /** Its key in the old declaration. */
  readonly source: string;
  /** Its key while its publishers leave it. */
  readonly before: string;
  /** Its name on the broker. */
  readonly name: string;
  /** The name on the broker of the source that takes its place under the same key. Null if there is none. */
  readonly newName: string | null;
  /** The consumers that take from it until its publishers have left, with the keys or headers that they take. */
  readonly taken: Readonly<Record<string, Taken>>;
}

/**
 * The sources of a deployed system that cannot become those of the new one in place.
 *
 * @param heirs by a consumer that goes, the one that takes from its sources in its place
 */
export function sourcesLeft(from: Deployed, to: Deployed, heirs: ReadonlyMap<string, string>): readonly LeftSource[] {
  const { sources, consumers } = to.system;
  const heirOf = (consumer: string): string => heirs.get(consumer) ?? consumer;
  const takenFrom = (source: string): LeftSource["taken"] =>
    Object.fromEntries(
      Object.entries(from.system.consumers).flatMap(([consumer, { from: own = {} }]) => {
        const taken = Object.hasOwn(own, source) ? own[source] : undefined;
        return taken === undefined || !Object.hasOwn(consumers, heirOf(consumer)) ? [] : [[heirOf(consumer), taken]];
      }),
    );
  const fixed = new Set(differingParts(from, to).map(({ part }) => partKey(part)));
  const isFixed = (name: string): boolean => ["exchange", "topic"].some((kind) => fixed.has(partKey({ kind, name })));
  const changed = Object.keys(from.system.sources).flatMap((source) => {
    const name = nameOnBroker(from, source);
    const own = Object.hasOwn(sources, source) ? sources[source] : undefined;
    // Nobody but its owner can give it another name.
    if (own === undefined || own.owner === "other" || nameOnBroker(to, source) !== name || !isFixed(name)) return [];
    const taken = new Set([...from.parts, ...to.parts].map((part) => part.name));
    const newName = nextGeneration(name, brokerOf(to.target).separator, taken);
    return [{ source, name, newName, taken: takenFrom(source) }];
  });
  const all = Object.entries(takenAfter({}, from)).map(([system, own]) => {
    return [system, Object.fromEntries(Object.entries(own).map(([key, each]) => [heirOf(key), each]))] as const;
  });
  const gone = goneSources(from, to, Object.fromEntries(all)).map(({ source: text }) => {
    const source = keyOfTaken(text);
    const newName = Object.hasOwn(sources, source) ? nameOnBroker(to, source) : null;
    return { source, name: nameOfTaken(to, text), newName, taken: takenFrom(source) };
  });
  return [...changed, ...gone].map((each) => {
    const isFree = !Object.hasOwn(sources, each.source);
    return { ...each, before: isFree ? each.source : freeKey(sources, each.source) };
  });
}

/** The new system, with a new name for each source that would else have its old one. */
export function withNewNames(to: Deployed, left: readonly LeftSource[]): System {
  const declared = Object.entries(to.system.sources).map(([key, source]): readonly [string, Source] => {
    const { newName = null } = left.find((each) => each.source === key) ?? {};
    return [key, newName === null || newName === nameOnBroker(to, key) ? source : { ...source, name: newName }];
  });
  return { ...to.system, sources: Object.fromEntries(declared) };
}

/** A system with the sources that publishers leave beside it. Consumers that stay take from these, too, or no longer. */
export function withOldSources(from: Deployed, system: System, left: readonly LeftSource[], areTaken: boolean): System {
  const { separator } = brokerOf(from.target);
  const old = left.map(({ source, before }): readonly [string, Source] => {
    const declared = from.system.sources[source] as Source;
    const named = (side: System, key: string) =>
      sourceName({ ...side, system: nameOfSystem(side), sources: { [key]: declared } }, key, separator);
    const name = named(from.system, source);
    return [before, named(system, before) === name ? declared : { ...declared, name }];
  });
  const takes = (consumer: string): Consumer["from"] =>
    Object.fromEntries(
      left
        .filter(({ taken }) => areTaken && Object.hasOwn(taken, consumer))
        .map(({ before, taken }) => [before, taken[consumer] ?? "all"]),
    );
  const consumers = Object.entries(system.consumers).map(([key, own]): readonly [string, Consumer] => {
    const more = takes(key);
    return [key, Object.keys(more ?? {}).length === 0 ? own : { ...own, from: { ...own.from, ...more } }];
  });
  return {
    ...system,
    sources: { ...system.sources, ...Object.fromEntries(old) },
    consumers: Object.fromEntries(consumers),
  };
}

/** The names of the sources that consumers take from in a step, and that the last one does not have. */
export function sourcesUntil(step: Deployed, last: Deployed): readonly string[] {
  const declared = declaredNames(last);
  return [...takenIn(step)].filter((name) => !declared.has(name));
}

/** The names of the sources that consumers take from. */
export function takenIn(side: Deployed): ReadonlySet<string> {
  return new Set(Object.values(side.system.consumers).flatMap((consumer) => namesTaken(side, consumer)));
}

/** The consumers of some sources whose instances have queues of their own. An instance binds its queue itself. */
export function instancesAt(sources: readonly string[], side: Deployed): readonly string[] {
  return Object.entries(side.system.consumers)
    .filter(
      ([, own]) => own.delivery === "every-instance" && namesTaken(side, own).some((name) => sources.includes(name)),
    )
    .map(([consumer]) => consumer);
}

function namesTaken(side: Deployed, { from = {} }: Consumer): readonly string[] {
  return Object.keys(from).map((key) => nameOnBroker(side, key));
}
