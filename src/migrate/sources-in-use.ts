import { isDeepStrictEqual } from "node:util";

import { brokerOf } from "../brokers/index.ts";
import { type Diagnostic, diagnostic, formatPath } from "../diagnostics/diagnostic.ts";
import { pathOfSource, sourceName } from "../plan/names.ts";
import { nameOfSystem } from "../plan/plan.ts";
import type { Deployed } from "./deployed.ts";
import { type TakenSources, declaredNames, keyOfTaken, nameOfTaken, nameOnBroker } from "./taken-sources.ts";

/** A source that a remaining consumer takes from, and that the new declaration lacks under this name. */
export interface GoneSource {
  /** As `TakenSources` has it. */
  readonly source: string;
  readonly consumers: readonly string[];
}

/** The sources that a change leaves out or renames although a remaining consumer takes from them. */
export function goneSources(from: Deployed, to: Deployed, taken: TakenSources): readonly GoneSource[] {
  const { consumers } = to.system;
  const name = nameOfSystem(to.system);
  const declared = declaredNames(to);
  const all = Object.hasOwn(taken, name) ? (taken[name] ?? {}) : {};
  const own = Object.entries(all).flatMap(([consumer, each]) => {
    if (!Object.hasOwn(consumers, consumer)) return [];
    const { from: asked = {} } = consumers[consumer] ?? {};
    const { from: before = {} } = from.system.consumers[consumer] ?? {};
    /** True if the consumer goes on to take from a source, perhaps under another key: then it takes the same. */
    const goesOn = (key: string, taken: string): boolean => {
      const old = Object.keys(before).find((each) => nameOnBroker(from, each) === taken);
      return Object.keys(asked).some((now) => {
        const isSame = now === key || old === undefined || isDeepStrictEqual(before[old], asked[now]);
        return isSame && nameOnBroker(to, now) === taken;
      });
    };
    const used = each.filter((source) => {
      const [key, taken] = [keyOfTaken(source), nameOfTaken(to, source)];
      if (goesOn(key, taken)) return false;
      // It still asks for the source, whose name has passed to another one.
      if (declared.has(taken)) return Object.hasOwn(asked, key);
      // A consumer gives up a source by asking no longer for it. Then its order does not matter.
      return Object.hasOwn(asked, key) || !hasSameName(from, to, key);
    });
    return [[consumer, used] as const];
  });
  return [...new Set(own.flatMap(([, each]) => each))].map((source) => ({
    source,
    consumers: own.filter(([, each]) => each.includes(source)).map(([consumer]) => consumer),
  }));
}

/** Refuses a change that leaves out or renames a source that a remaining consumer takes from. */
export function sourcesInUse(from: Deployed, to: Deployed, taken: TakenSources): Diagnostic[] {
  const gone = goneSources(from, to, taken);
  const renamed = gone.flatMap(({ source, ...rest }) => {
    const key = keyOfTaken(source);
    return Object.hasOwn(to.system.sources, key) ? [{ ...rest, source, key, old: nameOfTaken(to, source) }] : [];
  });
  const isRenamed = new Set(renamed.map(({ source }) => source));
  return [
    ...[...Map.groupBy(renamed, ({ key }) => to.system.sources[key]?.name && key).values()].map((each) =>
      renamedIn(from, to, each),
    ),
    ...gone.filter(({ source }) => !isRenamed.has(source)).map((each) => leftOut(to, each)),
  ];
}

interface Renamed extends GoneSource {
  readonly key: string;
  /** The name that it has on the broker. */
  readonly old: string;
}

/** One template may rename many sources, and that is one mistake. */
function renamedIn(from: Deployed, to: Deployed, renamed: readonly Renamed[]): Diagnostic {
  const sentences = renamed.map(({ key, old, consumers }, index) => {
    const now = nameOnBroker(to, key);
    const cannot = index === 0 ? "cannot be renamed in place" : "cannot either:";
    return `the source ${key} of ${consumers.join(", ")} ${cannot} from ${old} to ${now}`;
  });
  return diagnostic("RD303", {
    path: pathOf(to, renamed[0]?.key ?? ""),
    message: sentences[0] ?? "",
    notes: [...sentences.slice(1), dropping(to)],
    help: `${renamed.every(({ key }) => hasSameName(from, to, key)) ? "keep the order of its consumers" : `keep the name: ${nameKept(from, to, renamed)}`}; or declare a source with the new name beside the old one until its publishers have moved`,
  });
}

/** True if both declarations give the source this name, so that only the broker's suffix for order can differ. */
export function hasSameName(from: Deployed, to: Deployed, key: string): boolean {
  const [was, would] = [from, to].map(({ system: { sources, names, ...own } }) =>
    Object.hasOwn(sources, key)
      ? sourceName({ system: nameOfSystem(own), sources, ...(names && { names }) }, key, brokerOf(to.target).separator)
      : null,
  );
  return was !== null && was === would;
}

/** The edit that keeps the names. Only RabbitMQ takes a name for a single source, so a template comes first. */
function nameKept(from: Deployed, to: Deployed, renamed: readonly Renamed[]): string {
  const { separator } = brokerOf(to.target);
  const { sources } = to.system;
  const system = nameOfSystem(to.system);
  const template = from.system.names?.source ?? `{system}${separator}{source}`;
  const gives = ({ key, old }: Renamed): boolean =>
    sources[key]?.name === undefined &&
    sourceName({ system, sources, names: { source: template } }, key, separator) === old;
  if (renamed.every(gives)) return `names.source: ${JSON.stringify(template)}`;
  return renamed.map(({ key, old }) => `${formatPath(["sources", key, "name"])}: ${JSON.stringify(old)}`).join(", ");
}

function leftOut(to: Deployed, { source, consumers }: GoneSource): Diagnostic {
  return diagnostic("RD303", {
    path: ["sources", keyOfTaken(source)],
    message: `${consumers.join(", ")} ${consumers.length === 1 ? "takes" : "take"} from the source ${source}, which is left out`,
    notes: [dropping(to)],
    help: `keep ${source} beside the new source until its publishers have moved; then remove it from the consumers' from, deploy, and remove it from sources`,
  });
}

function dropping({ target }: Deployed): string {
  return `${brokerOf(target).title} would drop messages published to it from then on, and most publishers would get no notice`;
}

function pathOf({ system: { sources, names } }: Deployed, source: string): readonly string[] {
  return pathOfSource({ sources, ...(names && { names }) }, source);
}
