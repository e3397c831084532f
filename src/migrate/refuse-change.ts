import type { DeployedPart } from "../brokers/broker.ts";
import { brokerOf } from "../brokers/index.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import type { Deployed } from "./deployed.ts";
import type { TakenSources } from "./taken-sources.ts";
import { takenAfter } from "./taken-sources.ts";

/**
 * Why a change cannot be made by deploying the new system over the old one; empty where it can.
 *
 * Two things are refused. What keeps its name cannot become something else: the broker would refuse it in the middle of the update. And a
 * source cannot go while a consumer that stays still takes from it, since its publishers are not there to be asked.
 *
 * Everything else is safe, because nothing that is left out is deleted on the broker.
 *
 * @param from what was declared last, also where its update was cut off
 * @param taken what consumers took from sources in all declarations before
 */
export function refuseChange(
  from: Deployed,
  to: Deployed,
  taken: TakenSources = takenAfter({}, from.system),
): readonly Diagnostic[] {
  if (from.target.broker !== to.target.broker) return [];
  // Under another name everything is new, and what is here stays as it is.
  const isSame = from.system.name === to.system.name;
  return [...(isSame ? partsThatDiffer(from, to) : []), ...sourcesInUse(to, taken)];
}

const keyOf = ({ kind, name }: DeployedPart): string => `${kind} ${name}`;

/** One diagnostic for each consumer, and one for what is nobody's own. */
function partsThatDiffer(from: Deployed, to: Deployed): Diagnostic[] {
  const before = new Map(from.parts.map((part) => [keyOf(part), part]));
  const differing = to.parts.flatMap((part) => {
    const old = before.get(keyOf(part));
    const facts = old === undefined ? [] : differencesOf(old, part);
    return facts.length === 0 ? [] : [{ part, facts }];
  });
  return [...Map.groupBy(differing, ({ part }) => part.consumer)].map(([consumer, [first, ...others]]) => {
    const { part, facts } = first as (typeof differing)[number];
    return diagnostic("RD302", {
      path: consumer === null ? pathOfShared(from, to) : ["consumers", consumer],
      message: `the ${part.kind} ${part.name} cannot be changed in place: ${facts.join(", ")}`,
      notes: [
        ...others.map((other) => `the ${other.part.kind} ${other.part.name} neither: ${other.facts.join(", ")}`),
        ...causesOf(from, to, consumer),
      ],
      help: helpOf(from, to, consumer),
    });
  });
}

function differencesOf(old: DeployedPart, part: DeployedPart): string[] {
  const names = [...new Set([...Object.keys(old.fixed), ...Object.keys(part.fixed)])];
  return names
    .filter((name) => old.fixed[name] !== part.fixed[name])
    .map((name) => `${name} is ${valueOf(old.fixed[name])} and would be ${valueOf(part.fixed[name])}`);
}

function valueOf(value: DeployedPart["fixed"][string] | undefined): string {
  return value === undefined ? "not set" : JSON.stringify(value);
}

function strategyOf({ compiled }: Deployed, consumer: string | null): string | null {
  return compiled.contracts.find((contract) => contract.consumer === consumer)?.strategy ?? null;
}

function causesOf(from: Deployed, to: Deployed, consumer: string | null): string[] {
  const [old, now] = [strategyOf(from, consumer), strategyOf(to, consumer)];
  return [
    ...(old === now ? [] : [`the strategy was ${String(old)} and would be ${String(now)}`]),
    ...(from.compiled.target === to.compiled.target
      ? []
      : [`the target was ${from.compiled.target} and would be ${to.compiled.target}`]),
  ];
}

/** Only sources, and what consumers share, have no consumer. */
function pathOfShared(from: Deployed, to: Deployed): readonly string[] {
  const source = Object.keys(to.system.sources).find(
    (name) =>
      from.system.sources[name] !== undefined && from.system.sources[name]?.kind !== to.system.sources[name]?.kind,
  );
  return source === undefined ? ["target"] : ["sources", source, "kind"];
}

function helpOf(from: Deployed, to: Deployed, consumer: string | null): string {
  const old = strategyOf(from, consumer);
  if (from.compiled.target !== to.compiled.target)
    return `keep the target ${from.compiled.target} until these are empty, or deploy the system under another name beside this one`;
  if (old !== strategyOf(to, consumer))
    return `name the strategy that is deployed in the target, strategy: ${JSON.stringify(old)}, or declare the consumer under another name beside this one`;
  return consumer === null
    ? "keep it as it was, or declare a source under another name beside this one, and move publishers and consumers to it"
    : "keep it as it was, or declare the consumer under another name beside this one";
}

function sourcesInUse(to: Deployed, taken: TakenSources): Diagnostic[] {
  const { name, sources, consumers } = to.system;
  const own = Object.entries(taken[name] ?? {}).filter(([consumer]) => consumers[consumer] !== undefined);
  const gone = new Set(own.flatMap(([, each]) => each.filter((source) => sources[source] === undefined)));
  return [...gone].map((source) => {
    const stays = own.filter(([, each]) => each.includes(source)).map(([consumer]) => consumer);
    return diagnostic("RD303", {
      path: ["sources", source],
      message: `${stays.join(", ")} ${stays.length === 1 ? "takes" : "take"} from the source ${source}, which is left out`,
      notes: [
        `${brokerOf(to.target).title} would drop what is published to it from then on, and most publishers would not be told`,
      ],
      help: `keep ${source} beside the new source until its publishers have moved, then take it from the consumers' from, deploy, and leave it out`,
    });
  });
}
