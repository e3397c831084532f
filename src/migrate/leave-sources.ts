import type { DeployedPart } from "../brokers/deployed-part.ts";
import { brokerOf } from "../brokers/index.ts";
import type { Consumer, System, Taken } from "../declare/system.ts";
import { sourceName } from "../plan/names.ts";
import { nameOfSystem } from "../plan/plan.ts";
import { type Deployed, partKey } from "./deployed.ts";
import { freeKey, nextGeneration } from "./free-names.ts";
import { differingParts } from "./refuse-change.ts";
import { goneSources, hasSameName } from "./sources-in-use.ts";
import { declaredNames, keyOfTaken, nameOfTaken, nameOnBroker, takenAfter } from "./taken-sources.ts";

type Source = System["sources"][string];

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
  /**
   * True if a consumer with another order can take from only one of the two sources. Then those that drain go on to take
   * from the old one.
   */
  readonly isOrdered: boolean;
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
  // The new subscription would have the name of the old one.
  const isOrdered = (name: string): boolean =>
    from.parts.some((part) => fixed.has(partKey(part)) && part.kind === "subscription" && isIn(name, part));
  const changed = Object.keys(from.system.sources).flatMap((source) => {
    const name = nameOnBroker(from, source);
    const own = Object.hasOwn(sources, source) ? sources[source] : undefined;
    // Nobody but its owner can give it another name.
    if (own === undefined || own.owner === "other" || nameOnBroker(to, source) !== name) return [];
    if (!isFixed(name) && !isOrdered(name)) return [];
    const taken = new Set([...from.parts, ...to.parts].map((part) => part.name));
    const newName = nextGeneration(name, brokerOf(to.target).separator, taken);
    return [{ source, name, newName, taken: takenFrom(source), isOrdered: isOrdered(name) }];
  });
  const all = Object.entries(takenAfter({}, from)).map(([system, own]) => {
    return [system, Object.fromEntries(Object.entries(own).map(([key, each]) => [heirOf(key), each]))] as const;
  });
  const gone = goneSources(from, to, Object.fromEntries(all)).map(({ source: text }) => {
    const source = keyOfTaken(text);
    const newName = Object.hasOwn(sources, source) ? nameOnBroker(to, source) : null;
    const name = nameOfTaken(to, text);
    const holds = from.parts.some((part) => part.holds === "work" && isIn(name, part));
    return { source, name, newName, taken: takenFrom(source), isOrdered: holds || hasSameName(from, to, source) };
  });
  return [...changed, ...gone].map((each) => {
    const isFree = !Object.hasOwn(sources, each.source);
    return { ...each, before: isFree ? each.source : freeKey(sources, each.source) };
  });
}

/** True if a part is a subscription of a topic. With order its messages lie there, and in no queue. */
function isIn(topic: string, { kind, name }: DeployedPart): boolean {
  return kind === "subscription" && name.startsWith(`${topic}/`);
}

/**
 * The sources that publishers leave, with the consumers that take from them under the names that these have meanwhile.
 *
 * @param keys by consumer, the name under which it drains
 */
export function takenMeanwhile(
  from: Deployed,
  to: System,
  left: readonly LeftSource[],
  keys: ReadonlyMap<string, string>,
): readonly LeftSource[] {
  return left.map((each) => {
    if (!each.isOrdered) return each;
    const taken = Object.entries(from.system.consumers).flatMap(([consumer, own]) => {
      const key = keys.get(consumer) ?? (Object.hasOwn(to.consumers, consumer) ? consumer : null);
      const keysOf = own.from?.[each.source];
      return key === null || keysOf === undefined ? [] : [[key, keysOf] as const];
    });
    return { ...each, taken: Object.fromEntries(taken) };
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

/** A source of the old system as the new one declares it under a key, with its old name on the broker. */
export function keptSource(from: Deployed, system: System, source: string, key = source): Source {
  const { separator } = brokerOf(from.target);
  const declared = from.system.sources[source] as Source;
  const named = (side: System, own: string) =>
    sourceName({ ...side, system: nameOfSystem(side), sources: { [own]: declared } }, own, separator);
  const name = named(from.system, source);
  return named(system, key) === name ? declared : { ...declared, name };
}

/**
 * A system with the sources that publishers leave beside it.
 *
 * @param takes true if a consumer takes from these, too
 */
export function withOldSources(
  from: Deployed,
  system: System,
  left: readonly LeftSource[],
  takes: (consumer: string) => boolean,
): System {
  const old = left.map(({ source, before }) => [before, keptSource(from, system, source, before)] as const);
  const takenBy = (consumer: string): Consumer["from"] =>
    Object.fromEntries(
      left
        .filter(({ taken }) => takes(consumer) && Object.hasOwn(taken, consumer))
        .map(({ before, taken }) => [before, taken[consumer] ?? "all"]),
    );
  const consumers = Object.entries(system.consumers).map(([key, own]): readonly [string, Consumer] => {
    const more = takenBy(key);
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
