import { sharesDeadQueue } from "../contract/shared-dead-queue.ts";
import type { DeployedPart } from "../brokers/deployed-part.ts";
import { type Target, brokerOf } from "../brokers/index.ts";
import type { Consumer, System } from "../declare/system.ts";
import { type Diagnostic, diagnosed } from "../diagnostics/diagnostic.ts";
import { namesOfQueues } from "../plan/names.ts";
import type { Deployed } from "./deployed.ts";
import { freeKey } from "./free-names.ts";
import type { HeldBack } from "./held-back.ts";
import { withStrategies } from "./keep-strategies.ts";
import { type LeftSource, keptSource } from "./leave-sources.ts";
import { hasSameName } from "./sources-in-use.ts";

/** Both systems: the old consumers get no more messages, and drain their queues. */
export function sideBySide(from: Deployed, to: System, keys: ReadonlyMap<string, string>): System {
  const { separator } = brokerOf(from.target);
  const subscriptions = subscriptionsOf(from);
  const drained = Object.entries(from.system.consumers).flatMap(([consumer, declared]) => {
    const key = keys.get(consumer);
    if (key === undefined) return [];
    const own = { ...(key === consumer ? {} : { formerly: consumer }), ...declared, from: undefined };
    const { work: queue, dead } = namesOfQueues(from.system, consumer, separator);
    // Its name follows from the topic, and nobody gives it another.
    if (subscriptions.has(consumer)) return [[key, own] as const];
    // The new declaration may have other templates of names.
    const namesOf = (each: Consumer) => namesOfQueues({ ...to, consumers: { [key]: each } }, key, separator);
    const named = namesOf(own).work === queue ? own : { ...own, queue };
    const isSame = sharesDeadQueue(from.target, own.deadLetter?.queue) || namesOf(named).dead === dead;
    return [[key, isSame ? named : { ...named, deadLetter: { ...named.deadLetter, queue: dead } }] as const];
  });
  const staying = Object.entries(from.system.consumers).filter(([consumer]) => keys.get(consumer) !== consumer);
  const used = new Set(staying.flatMap(([, own]) => Object.keys(own.from ?? {})));
  // A source that goes with its consumers stays as long as these.
  const sources = Object.keys(from.system.sources)
    .filter((source) => !used.has(source) && !hasSameName(from, { ...from, system: to }, source))
    .map((source) => {
      // Only under its old name the deployment ends the bindings of those that drain.
      const key = Object.hasOwn(to.sources, source) ? freeKey(to.sources, source) : source;
      return [key, keptSource(from, to, source, key)] as const;
    });
  return {
    ...to,
    sources: { ...Object.fromEntries(sources), ...to.sources },
    consumers: { ...to.consumers, ...Object.fromEntries(drained) },
  };
}

/** True if consumers share a dead queue before or after, and not both. On Service Bus that changes in place. */
function changesDeadQueues(from: Target, to: Target): boolean {
  return brokerOf(to).changesDeadQueue !== true && (from.deadQueue === "shared") !== (to.deadQueue === "shared");
}

/** The target for both systems: consumers without a dead queue of their own share one. */
export function sharingDead(from: Target, to: Target): Target {
  return changesDeadQueues(from, to) ? ({ ...to, deadQueue: "shared" } as Target) : to;
}

/** Both systems, for the target of both. The one in which each consumer has its own dead queue names them. */
export function withOwnDeadQueues(from: Deployed, to: Deployed): readonly [Deployed, System] {
  if (!changesDeadQueues(from.target, to.target)) return [from, to.system];
  const { separator } = brokerOf(to.target);
  const naming = (system: System): System["consumers"] =>
    Object.fromEntries(
      Object.entries(system.consumers).map(([consumer, own]): readonly [string, Consumer] => {
        const { dead: queue } = namesOfQueues(system, consumer, separator);
        return [consumer, own.retry === undefined ? own : { ...own, deadLetter: { ...own.deadLetter, queue } }];
      }),
    );
  if (to.target.deadQueue === "shared")
    return [{ ...from, system: { ...from.system, consumers: naming(from.system) } }, to.system];
  // The shared queue keeps its name.
  const { dead: _, ...names } = to.system.names ?? {};
  const dead = from.system.names?.dead;
  return [
    from,
    { ...to.system, names: { ...names, ...(dead === undefined ? {} : { dead }) }, consumers: naming(to.system) },
  ];
}

/** The old consumers keep their strategies. */
export function withOldStrategies(from: Deployed, target: Target, keys: ReadonlyMap<string, string>): Target {
  const strategies = [...keys].flatMap(([consumer, key]) => {
    const strategy = from.contracts.get(consumer)?.strategy;
    return strategy === undefined ? [] : [[key, strategy] as const];
  });
  const named = strategies.length === 0 ? null : withStrategies(target, strategies);
  return named?.ok === true ? named.value : target;
}

/** The old queues keep the settings that they have from the old target. */
export function withOldSettings(
  from: Deployed,
  { system, target }: Pick<Deployed, "system" | "target">,
  meanwhile: Target,
  keys: ReadonlyMap<string, string>,
): Target {
  const old = new Map([...keys].map(([consumer, key]) => [key, consumer]));
  const others = Object.keys(system.consumers).filter((consumer) => !old.has(consumer));
  const names = new Map(others.map((consumer) => [consumer, consumer]));
  const sides = [
    { target: from.target, names: old },
    { target, names },
  ];
  return brokerOf(target).targetBeside?.(meanwhile, sides) ?? meanwhile;
}

/** The settings of a consumer whose code waits go to the one that drains. So no function takes from its new queue. */
export function withoutHeld(target: Target, held: readonly HeldBack[], keys: ReadonlyMap<string, string>): Target {
  const drained = new Map(held.map(({ consumer, before }) => [consumer, keys.get(before) ?? before]));
  const moved = brokerOf(target).targetUnder(target, (consumer) => drained.get(consumer) ?? consumer);
  return { ...moved, ...(target.strategies && { strategies: target.strategies }) } as Target;
}

/** The queues that one consumer still drains when another one would get them. */
export function stillDrained(
  from: Deployed,
  final: Deployed,
  keys: ReadonlyMap<string, string>,
): readonly Diagnostic[] {
  return [...final.contracts.values()].flatMap(({ consumer, workQueue: queue }) => {
    const owner = [...from.contracts.values()].find((old) => queue !== null && old.workQueue === queue)?.consumer;
    if (owner === undefined || owner === consumer || !keys.has(owner)) return [];
    return diagnosed("RD302", {
      path: ["consumers", consumer, "queue"],
      message: `the queue ${queue} of ${owner} cannot pass to ${consumer} while ${owner} drains it`,
      notes: ["one consumer's messages would reach the other"],
      help: `first migrate with a new name for the queue of ${consumer}, too; then delete ${queue} once it is empty, run redeliver lock --replace if there is a lock, and migrate again`,
    });
  });
}

/** The drained consumers that receive from a subscription itself, and would still get messages there. */
export function neverEmpty(
  from: Deployed,
  sources: readonly LeftSource[],
  keys: ReadonlyMap<string, string>,
): readonly Diagnostic[] {
  const subscriptions = subscriptionsOf(from);
  return [...keys].flatMap(([consumer, key]) => {
    const own = subscriptions.get(consumer);
    if (own === undefined || sources.some(({ taken }) => Object.hasOwn(taken, key))) return [];
    return diagnosed("RD302", {
      path: ["consumers", consumer, "from"],
      message: `the subscription ${own.name} of ${consumer} would still get messages, so it would never be empty`,
      notes: ["in order a consumer receives from its subscription, and only its publishers can end that"],
    });
  });
}

/** The subscriptions that consumers receive from, because they are in order. */
function subscriptionsOf({ parts }: Deployed): ReadonlyMap<string | null, DeployedPart> {
  const own = parts.filter(({ kind, holds }) => kind === "subscription" && holds === "work");
  return new Map(own.map((part) => [part.consumer, part]));
}
