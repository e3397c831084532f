import type { DeployedPart } from "../brokers/deployed-part.ts";
import { brokerOf } from "../brokers/index.ts";
import type { AnyContract } from "../contract/contract.ts";
import { type Diagnostic, diagnostic, formatPath } from "../diagnostics/diagnostic.ts";
import { type Deployed, isElsewhere, overDeployed, partKey } from "./deployed.ts";
import { objectionsTo } from "./keep-strategies.ts";
import { sourcesInUse } from "./sources-in-use.ts";
import { type TakenSources, takenAfter } from "./taken-sources.ts";
import { namesOfQueues, pathOfOwn } from "../plan/names.ts";
import { nameOfSystem, planAlone } from "../plan/plan.ts";
import { wordOf } from "../diagnostics/word-of.ts";

/**
 * Finds the reasons that the new system cannot be deployed over the old one; empty if it can.
 *
 * Three changes are refused. A consumer that stays keeps its work queue and its dead queue. A part that keeps its name
 * cannot change its consumer, its system, its kind or its fixed settings. The broker would refuse the last two during
 * the update. And a source cannot go while a remaining consumer takes from it. Redeliver cannot know if publishers still
 * use it.
 *
 * Every other change is safe, because a part that leaves the declaration stays on the broker.
 *
 * @param from the last declaration, also if its update was cut off
 * @param taken the sources that consumers took from in all earlier declarations
 */
export function refuseChange(
  from: Deployed,
  to: Deployed,
  taken: TakenSources = takenAfter({}, from),
): readonly Diagnostic[] {
  if (isElsewhere(from, to)) return [];
  return [...fixedParts(from, to).map(({ problem }) => problem()), ...sourcesInUse(from, to, taken)];
}

/** A problem with the parts of one consumer. Null for shared parts. */
export interface FixedPart {
  readonly consumer: string | null;
  /** A function, because its reasons need a compilation, and a plan often asks for the consumer alone. */
  readonly problem: () => Diagnostic;
}

/** The queues and settings that no deployment can change in place, although the new system needs it. */
export function fixedParts(from: Deployed, to: Deployed): readonly FixedPart[] {
  const replaced = queuesReplaced(from, to);
  const consumers = new Set(replaced.map(({ consumer }) => consumer));
  return [...replaced, ...partsThatDiffer(from, to).filter(({ consumer }) => !consumers.has(consumer))];
}

/** A consumer that stays must keep its queues, because messages wait there, and direct producers send there. */
function queuesReplaced(from: Deployed, to: Deployed): FixedPart[] {
  return to.compiled.contracts.flatMap((now: AnyContract) => {
    const old = from.contracts.get(now.consumer);
    if (old === undefined || old.workQueue === null) return [];
    const isDead = old.workQueue === now.workQueue;
    // Under another name every queue is new, and the old ones stay as they are. A fixed name is no other one.
    if (!isDead && isAnother(from, to)) return [];
    if (isDead && brokerOf(to.target).changesDeadQueue === true) return [];
    const [was, would] = isDead ? [old.deadQueue, now.deadQueue] : [old.workQueue, now.workQueue];
    if (was === would) return [];
    const { consumer } = now;
    const problem = () => queueReplaced(`${was} of ${consumer}`, would, causeOf(from, to, consumer, isDead));
    return [{ consumer, problem }];
  });
}

function queueReplaced(queue: string, would: string | null, { path, isName, formerly }: QueueCause): Diagnostic {
  const cannot = isName ? "cannot be renamed in place to" : "cannot be replaced in place by";
  return diagnostic("RD302", {
    path,
    message: `the queue ${queue} ${cannot} ${would ?? "a queue of each instance"}`,
    notes: ["messages may wait in it, and nothing would take them from there any more"],
    help: `keep ${formerly !== undefined ? `formerly: ${wordOf(formerly)}` : isName ? "the name" : `${formatPath(path)} as it was`}, or ${path[0] === "target" ? "deploy the system" : "declare the consumer"} under another name beside this one`,
  });
}

interface QueueCause {
  /** The place in the declaration, or the target, that decides about the queue. */
  readonly path: readonly string[];
  /** True if a name or a template gives the new name. */
  readonly isName: boolean;
  /** The name that the consumer has on the broker, if the declaration no longer says so. */
  readonly formerly?: string | undefined;
}

function isAnother(from: Deployed, to: Deployed): boolean {
  return nameOfSystem(from.system) !== nameOfSystem(to.system);
}

function causeOf({ system: before }: Deployed, to: Deployed, consumer: string, isDead: boolean): QueueCause {
  const { system: after, target } = to;
  const own = ["consumers", consumer];
  const [old, now] = [before, after].map(({ consumers }) => consumers[consumer]);
  const field = (["delivery", "order"] as const).find((each) => old?.[each] !== now?.[each]);
  if (field !== undefined) return { path: [...own, field], isName: false };
  const kind = isDead ? "dead" : "work";
  const { separator } = brokerOf(target);
  const [was, would] = [before, after].map((system) => namesOfQueues(system, consumer, separator)[kind]);
  const formerly = old?.formerly === now?.formerly || now?.queue !== undefined ? undefined : old?.formerly;
  if (was !== would) return { path: pathOfOwn(planAlone(after, consumer), consumer, kind), isName: true, formerly };
  return { path: isDead ? ["target"] : [...own, "from"], isName: false };
}

/** The parts that exist with other settings, each with the differences. */
export function differingParts(from: Deployed, to: Deployed) {
  const before = new Map(from.parts.map((part) => [partKey(part), part]));
  return to.parts.flatMap((part) => {
    const old = before.get(partKey(part));
    const facts = old === undefined ? [] : [...passedOn(from, to, old), ...differencesOf(old, part)];
    return facts.length === 0 ? [] : [{ part, facts }];
  });
}

/** Gives one diagnostic for each consumer, and one for all shared parts. */
function partsThatDiffer(from: Deployed, to: Deployed): FixedPart[] {
  const differing = differingParts(from, to);
  return [...Map.groupBy(differing, ({ part }) => part.consumer)].map(([consumer, [first, ...others]]) => {
    const { part, facts } = first as (typeof differing)[number];
    const problem = (): Diagnostic => {
      const objections = keptStrategyObjections(from, to, consumer);
      return diagnostic("RD302", {
        path: consumer === null ? pathOfShared(from, to) : ["consumers", consumer],
        message: `the ${part.kind} ${part.name} cannot be changed in place: ${facts.join(", ")}`,
        notes: [
          ...others.map((other) => `the ${other.part.kind} ${other.part.name} neither: ${other.facts.join(", ")}`),
          ...causesOf(from, to, consumer, objections),
        ],
        help: helpOf(from, to, consumer, objections),
      });
    };
    return { consumer, problem };
  });
}

/** A queue may have a name without the system's. Messages that wait in it would come back by the old system's ways. */
function passedOn(from: Deployed, to: Deployed, { holds }: DeployedPart): string[] {
  const [old, now] = [from, to].map(({ system }) => nameOfSystem(system));
  return old === now || holds === null ? [] : [`its system is ${valueOf(old)} and would be ${valueOf(now)}`];
}

function differencesOf(old: DeployedPart, part: DeployedPart): string[] {
  // Messages of one consumer would reach the code of another.
  if (old.consumer !== part.consumer && old.holds !== null)
    return [
      `its consumer is ${valueOf(old.consumer ?? undefined)} and would be ${valueOf(part.consumer ?? undefined)}`,
    ];
  // Its owner may have made it anew.
  if (old.owner === "other" && part.owner === "other") return [];
  const known = [old, part].find(({ owner }) => owner === "other");
  return fixedDifferences(old.fixed, part.fixed, Object.keys(known?.fixed ?? { ...old.fixed, ...part.fixed }));
}

export function fixedDifferences(
  old: DeployedPart["fixed"],
  next: DeployedPart["fixed"],
  names: readonly string[] = Object.keys({ ...old, ...next }),
): string[] {
  return names
    .filter((name) => old[name] !== next[name])
    .map((name) => `${name} is ${valueOf(old[name])} and would be ${valueOf(next[name])}`);
}

function valueOf(value: DeployedPart["fixed"][string] | undefined): string {
  return value === undefined ? "not set" : JSON.stringify(value);
}

function strategyOf({ contracts }: Deployed, consumer: string | null): string | null {
  return contracts.get(consumer ?? "")?.strategy ?? null;
}

/** The reasons that a consumer cannot keep its strategy. Empty if it can, or if it has no other one. */
function keptStrategyObjections(from: Deployed, to: Deployed, consumer: string | null): readonly Diagnostic[] {
  const [old, now] = [strategyOf(from, consumer), strategyOf(to, consumer)];
  return old === now || old === null || consumer === null ? [] : objectionsTo(old, to, consumer);
}

function causesOf(from: Deployed, to: Deployed, consumer: string | null, objections: readonly Diagnostic[]): string[] {
  const [old, now] = [strategyOf(from, consumer), strategyOf(to, consumer)];
  const [template, next] = [from, to].map(({ system }) => wordOf(system.names?.shared ?? "not set"));
  return [
    ...(template === next
      ? []
      : [
          `names.shared was ${template} and would be ${next}: keep it, because queues have its exchange in their arguments`,
        ]),
    ...(old === now ? [] : [`the strategy was ${wordOf(old)} and would be ${wordOf(now)}`]),
    ...objections.map(({ message }) => message),
    ...(from.compiled.target === to.compiled.target
      ? []
      : [`the target was ${from.compiled.target} and would be ${to.compiled.target}`]),
  ];
}

/** Only sources and shared parts have no consumer. */
function pathOfShared(from: Deployed, to: Deployed): readonly string[] {
  const source = Object.keys(to.system.sources).find(
    (name) =>
      Object.hasOwn(from.system.sources, name) && from.system.sources[name]?.kind !== to.system.sources[name]?.kind,
  );
  return source === undefined ? ["target"] : ["sources", source, "kind"];
}

function helpOf(from: Deployed, to: Deployed, consumer: string | null, objections: readonly Diagnostic[]): string {
  const old = strategyOf(from, consumer);
  if (isAnother(from, to))
    return "keep the name of the system, with formerly if you rename it, or give the new one's queue another name";
  const { target } = to;
  const queue = to.contracts.get(consumer ?? "")?.workQueue ?? null;
  const owner = [...from.contracts.values()].find((each) => queue !== null && each.workQueue === queue)?.consumer;
  if (owner !== undefined && owner !== consumer)
    return Object.hasOwn(to.system.consumers, owner)
      ? "give it a queue of another name"
      : `write formerly: ${wordOf(owner)} if it is the same consumer, or give it a queue of another name`;
  const needed = Object.entries(overDeployed(from, target)).filter(([key]) => !Object.hasOwn(target, key));
  if (needed.length > 0)
    return `write ${needed.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")} in the target, so that the queues stay as they are, or keep the target ${from.compiled.target}`;
  if (from.compiled.target !== to.compiled.target)
    return `keep the target ${from.compiled.target} until these are empty, or deploy the system under another name beside this one`;
  if (consumer !== null && old !== null && old !== strategyOf(to, consumer))
    return objections.length === 0
      ? `name the strategy that is deployed in the target, strategies: ${JSON.stringify({ [consumer]: old })}, or declare the consumer under another name beside this one`
      : "keep the consumer's retry settings, or declare it under another name beside this one";
  return consumer === null
    ? "keep it as it was, or declare a source under another name beside this one, and move publishers and consumers to it"
    : "keep it as it was, or declare the consumer under another name beside this one";
}
