import { isDeepStrictEqual } from "node:util";

import { overlay } from "../../../contract/overlay.ts";
import type { Subject } from "../../../explore/model.ts";
import { type InPhase, type PhaseSubject, subjectOfPhases } from "../../../explore/phases.ts";
import type { RabbitmqTarget } from "../compile/capabilities.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import { type PolicyResource, asInForce } from "../compile/topology.ts";
import { type Resources, afterDeployment, nameOf } from "../compile/after-deployment.ts";
import { bindingKey } from "../compile/differences.ts";
import { type Closure, type TopologyIndex, closureOf, indexTopology } from "./closure.ts";
import { policiesInForce } from "./foreign-policies.ts";
import { type QueueContract, hasQueues, modelOn } from "./model.ts";
import type { MessageState, Semantics, SemanticsVersion } from "./semantics.ts";
import {
  brokerTopologyOf,
  indexPolicies,
  policiesNaming,
  semanticsOf,
  semanticsVersionOf,
  semanticsVersions,
} from "./semantics.ts";
import { shapeOf } from "./shape.ts";

interface Side {
  readonly compiled: RabbitmqCompiled;
  readonly target: RabbitmqTarget;
}

/**
 * Lists the consumers that are declared before and after a change, for a proof with messages in every place.
 *
 * The phases follow a deployment. First there is the old topology alone. Then there are the new resources too, and the
 * old ones stay, because a deployment deletes only bindings of sources. Policies change one after the other, in any
 * order. Consumers by the new contract start after the last one, beside those by the old contract.
 */
export function changesOf(from: Side, to: Side): readonly Subject<InPhase<MessageState>>[] {
  const [before, after] = [from.compiled.topology, to.compiled.topology];
  const resources = afterDeployment(before, after);
  // The policies of others apply to the resources of the old declaration as well.
  const settled = (declared: Resources): Resources => {
    const { policies } = to.target;
    if (policies === undefined) return declared;
    return { ...declared, policies: policiesInForce(declared, policies, semanticsVersionOf(to.target)) };
  };
  const indexes = {
    old: indexTopology(asInForce(before)),
    oldPolicies: indexTopology(settled({ ...resources, policies: overlay(after.policies, before.policies, nameOf) })),
    newPolicies: indexTopology(settled(resources)),
  };
  const contracts = new Map(from.compiled.contracts.map((contract) => [contract.consumer, contract]));
  return to.compiled.contracts.filter(hasQueues).flatMap((contract) => {
    const old = contracts.get(contract.consumer);
    // Under another name the new queue begins empty, and the old one stays as it is.
    if (old === undefined || !hasQueues(old) || old.workQueue !== contract.workQueue) return [];
    return [subjectOfPhases(contract.consumer, phasesOf(from, to, indexes, old, contract))];
  });
}

interface Indexes {
  /** The old topology alone. */
  readonly old: TopologyIndex;
  /** The old and the new resources, with the policies as they were. */
  readonly oldPolicies: TopologyIndex;
  /** The same, with the policies as they are going to be. */
  readonly newPolicies: TopologyIndex;
}

function phasesOf(
  from: Side,
  to: Side,
  indexes: Indexes,
  before: QueueContract,
  after: QueueContract,
): readonly [PhaseSubject<MessageState>, ...PhaseSubject<MessageState>[]] {
  const alone = closureOf(indexes.old, before);
  const places = alone.queues.map(nameOf);
  // A target may become an older one. The broker does not.
  const target = ageOf(from.target) > ageOf(to.target) ? from.target : to.target;
  // Most consumers of a large system do not change, and their proof takes most of the time.
  const contracts = JSON.stringify(before) === JSON.stringify(after) ? [after] : [before, after];
  const inEnd = contracts.map((contract) => closureOf(indexes.newPolicies, contract, places));
  const isSettled = inEnd.every((closure) => hasSamePolicies(closure, indexes));
  const inBegin = isSettled ? [] : contracts.map((contract) => closureOf(indexes.oldPolicies, contract, places));
  const reached = [...inBegin, ...inEnd].reduce(joined);
  // In a large system most consumers are like this, and each further phase would double their states.
  if (isSettled && contracts.length === 1 && isSameTarget(from, to) && isSamePlace(alone, reached))
    return [{ name: "before", subjects: [subjectOn(alone, before, from.target, true)] }];
  const { sets, policiesIn } = ordersOf(reached, indexes, semanticsVersionOf(target));
  const during = sets.map((set): Closure => {
    const policies = policiesIn(set);
    const index = indexPolicies(policies);
    return { ...reached, policies, policiesOf: (name) => policiesNaming(index, name) };
  });
  const last = during.at(-1) ?? reached;
  const old = during.map((closure) => subjectOn(closure, before, target, false));
  const oldInEnd = old.at(-1) ?? subjectOn(last, before, target, false);
  const newest = subjectOn(last, after, target, true);
  const first = { name: "before", subjects: [subjectOn(alone, before, from.target, true)] } as const;
  const upgraded = { name: "the broker is upgraded", subjects: [subjectOn(alone, before, target, false)] } as const;
  const begin = target === from.target ? ([first] as const) : ([first, upgraded] as const);
  return [
    ...begin,
    ...old.map((subject, index): PhaseSubject<MessageState> => {
      // One more policy is in force. After the last one come the new consumers.
      const more = sets.flatMap((set, other) => (isOneMore(sets[index] ?? [], set) ? [begin.length + other] : []));
      const next = more.length === 0 ? [begin.length + sets.length] : more;
      return { name: "the deployment goes on", next, subjects: [subject] };
    }),
    { name: "new consumers start", subjects: contracts.length === 1 ? [newest] : [oldInEnd, newest] },
  ];
}

function isSameTarget({ target: old }: Side, { target }: Side): boolean {
  const apart = { strategy: undefined, strategies: undefined };
  return isDeepStrictEqual({ ...old, ...apart }, { ...target, ...apart });
}

/** True if messages find the same queues, exchanges, bindings and policies. */
function isSamePlace(one: Closure, other: Closure): boolean {
  const [a, b] = [one, other].map(({ exchanges, queues, bindings, policies }) =>
    [exchanges, queues, bindings, policies].map((parts) => parts.map((part) => JSON.stringify(part)).toSorted()),
  );
  return isDeepStrictEqual(a, b);
}

/** True if the change sets no policy of a resource that messages of the consumer reach. */
function hasSamePolicies(
  { queues, exchanges }: Closure,
  { oldPolicies, newPolicies }: Pick<Indexes, "oldPolicies" | "newPolicies">,
): boolean {
  const names = [...queues, ...exchanges].map(nameOf);
  return names.every((name) => isDeepStrictEqual(oldPolicies.policiesOf(name), newPolicies.policiesOf(name)));
}

function ageOf(target: RabbitmqTarget): number {
  return semanticsVersions.indexOf(semanticsVersionOf(target));
}

/** @param publishes true if messages come in by the contract's sources in this phase */
function subjectOn(
  closure: Closure,
  contract: QueueContract,
  target: RabbitmqTarget,
  publishes: boolean,
): Subject<MessageState> {
  const version = semanticsVersionOf(target);
  let shape: string | null = null;
  return {
    consumer: contract.consumer,
    shape: () => (shape ??= shapeOf(closure, contract, version, publishes)),
    model: () => modelOn(semanticsOf(brokerTopologyOf(closure), version), closure, contract, target),
  };
}

/** More policies than these change together only with the target, which changes them one after the other. */
const mostChanging = 4;

/**
 * Each set of policies that may be in force during the update, from all the old ones to all the new ones. A policy
 * counts only if a message can notice its change.
 */
function ordersOf(
  reached: Closure,
  { oldPolicies, newPolicies }: Indexes,
  version: SemanticsVersion,
): { readonly sets: readonly PolicyNames[]; readonly policiesIn: (set: PolicyNames) => PolicyResource[] } {
  const names = [...new Set(reached.policies.map(nameOf))];
  const withPolicies = (changed: ReadonlySet<string>): PolicyResource[] =>
    names.flatMap((name) => (changed.has(name) ? newPolicies : oldPolicies).policiesOf(name));
  if (hasSamePolicies(reached, { oldPolicies, newPolicies }))
    return { sets: [[]], policiesIn: () => withPolicies(new Set(names)) };
  const [before, after] = [new Set<string>(), new Set(names)].map((changed) =>
    semanticsOf(brokerTopologyOf({ ...reached, policies: withPolicies(changed) }), version),
  ) as [Semantics, Semantics];
  const queues = new Set(reached.queues.map(nameOf));
  const noticed = names.filter((name) =>
    queues.has(name)
      ? JSON.stringify(before.settings(name)) !== JSON.stringify(after.settings(name))
      : JSON.stringify(oldPolicies.policiesOf(name)) !== JSON.stringify(newPolicies.policiesOf(name)),
  );
  const sets =
    noticed.length > mostChanging
      ? Array.from({ length: noticed.length + 1 }, (_, count) => noticed.slice(0, count))
      : subsetsOf(noticed);
  const unnoticed = names.filter((name) => !noticed.includes(name));
  return { sets, policiesIn: (set) => withPolicies(new Set([...unnoticed, ...set])) };
}

type PolicyNames = readonly string[];

function isOneMore(set: PolicyNames, other: PolicyNames): boolean {
  return other.length === set.length + 1 && set.every((name) => other.includes(name));
}

/** All subsets, the smaller ones first. */
function subsetsOf(names: PolicyNames): readonly PolicyNames[] {
  const [first, ...others] = names;
  if (first === undefined) return [[]];
  const without = subsetsOf(others);
  return [...without, ...without.map((set) => [first, ...set])].toSorted((a, b) => a.length - b.length);
}

function joined(one: Closure, other: Closure): Closure {
  return {
    exchanges: overlay(one.exchanges, other.exchanges, nameOf),
    queues: overlay(one.queues, other.queues, nameOf),
    bindings: overlay(one.bindings, other.bindings, bindingKey),
    policies: overlay(one.policies, other.policies, nameOf),
    policiesOf: other.policiesOf,
    asked: new Set([...one.asked, ...other.asked]),
    ignoresKeysOf: (publisher) => one.ignoresKeysOf(publisher) && other.ignoresKeysOf(publisher),
  };
}
