import { type Target, brokerOf } from "../brokers/index.ts";
import { prove } from "../compile/compile.ts";
import type { System } from "../declare/system.ts";
import { checkSystem } from "../declare/check.ts";
import { type Checked, type Diagnostic, accepted } from "../diagnostics/diagnostic.ts";
import { plan } from "../plan/plan.ts";
import { type Deployed, deployedOf, needsUpgrade, overDeployed, underNewNames } from "./deployed.ts";
import { type LeftBehind, leftBehind } from "./left-behind.ts";
import { type ProvedChange, proveChange } from "./prove-change.ts";
import {
  neverEmpty,
  sharingDead,
  sideBySide,
  stillDrained,
  withOldSettings,
  withOldStrategies,
  withOwnDeadQueues,
  withoutHeld,
} from "./draining.ts";
import { freeKey, withNewQueues } from "./free-names.ts";
import { type HeldQueues, type Holding, leftQueuesTaken } from "./held-queues.ts";
import { type HeldBack, heldBack } from "./held-back.ts";
import {
  type LeftSource,
  sourcesLeft,
  takenIn,
  takenMeanwhile,
  withNewNames,
  withOldSources,
} from "./leave-sources.ts";
import { atDeclared, impossible } from "./no-order.ts";
import { type Apart, type Gone, apartFrom, drainedBefore, goneIn, longestDelayOf } from "./old-queues.ts";
import { fixedParts, refuseChange } from "./refuse-change.ts";

/** One deployment of a migration. The change to it is proved. */
export interface MigrationStep extends Pick<ProvedChange, "verdicts" | "warnings" | "weakened"> {
  readonly system: System;
  readonly target: Target;
  /** The queues that it leaves on the broker. */
  readonly left: readonly LeftBehind[];
}

/** A way from a deployed system to a new one. */
export interface Migration {
  /** The target that the broker has to be upgraded to before the first step. Null if the target is no newer one. */
  readonly upgradeTo: string | null;
  /** The settings that the target needs because of the deployed queues, and that nobody has asked for. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The reasons that no single deployment makes the change; empty if one does. */
  readonly reasons: readonly string[];
  /** The promises that a shorter way would weaken, and that these steps keep: RD304 and RD308. */
  readonly avoided: readonly Diagnostic[];
  /** The consumers that get new queues, each with the one that drains its old ones. */
  readonly moved: readonly Moved[];
  readonly gone: readonly Gone[];
  /** The sources that their publishers leave. */
  readonly sources: readonly LeftSource[];
  /** The sources, as the broker names them, that no consumer takes from any more. The broker drops their messages. */
  readonly dropped: readonly string[];
  /** The moved consumers in order. Their new code starts only when their old queue is empty. */
  readonly held: readonly HeldBack[];
  /** Null if the new system has the name and the place of the old one. */
  readonly apart: Apart | null;
  /** The queues of the drained consumers. They have to be empty before the second step. */
  readonly drained: readonly string[];
  /**
   * The deployments, in their order. One, if a single deployment makes the change. Otherwise the first has the old parts
   * and the new ones side by side. If publishers leave sources, consumers give these up before the last deployment.
   */
  readonly steps: readonly MigrationStep[];
}

export type Moved = ReturnType<typeof movedOf>;

/** The choices of a plan. */
interface Choices {
  /** Takes the shortest way, also if it weakens a promise. */
  readonly acceptWeaker?: boolean | undefined;
  /**
   * On a way back, the system in whose places messages may be, and by each consumer that drains the one that takes its
   * place. It ends with the queues of the old declaration, so it is always the shortest one.
   */
  readonly back?: { readonly start: Deployed; readonly heirs: ReadonlyMap<string, string> };
}

/**
 * Finds the steps from a deployed system to a new one, and proves each. A consumer whose queues cannot change in place
 * gets new ones. Its old queues get no more messages, and the old code drains them beside the new code. So each message
 * is handled by one contract from its first attempt to its last. A consumer that goes is drained in the same way.
 *
 * If the shortest way weakens a promise of a consumer, this one gets new queues as well, as long as that keeps all.
 *
 * @returns RD306 if there is no such way
 */
export function planMigration(
  old: Holding,
  system: System,
  wanted: Target,
  { acceptWeaker = false, back }: Choices = {},
): Checked<Migration> {
  const shortest = planWith(old, system, wanted, [], back);
  const weakened = shortest.ok ? shortest.value.steps.flatMap((step) => step.weakened) : [];
  const declared = weakened.filter((consumer) => Object.hasOwn(system.consumers, consumer));
  if (!shortest.ok || acceptWeaker || back !== undefined || declared.length === 0) return shortest;
  const kept = planWith(old, system, wanted, declared);
  if (!kept.ok || kept.value.steps.some(({ warnings }) => warnings.length > 0)) return shortest;
  return accepted({ ...kept.value, avoided: shortest.value.steps.flatMap(({ warnings }) => warnings) });
}

/** @param weakened the consumers that get new queues to keep a promise */
function planWith(
  old: Holding,
  system: System,
  wanted: Target,
  weakened: readonly string[],
  back?: Choices["back"],
): Checked<Migration> {
  const { start = old, heirs = new Map<string, string>() } = back ?? {};
  const target = overDeployed(old, wanted);
  const own = {
    upgradeTo: needsUpgrade(old.target, target) ? brokerOf(target).formatTarget(target) : null,
    settings: Object.fromEntries(Object.entries(target).filter(([key]) => !Object.hasOwn(wanted, key))),
    avoided: [],
    apart: null,
  };
  const direct = compiledFor(system, target);
  if (!direct.ok) return direct;
  const from = underNewNames(old, system);
  const taken = leftQueuesTaken(from, direct.value, old.held ?? {});
  if (taken.length > 0) return impossible(taken);
  const refused = refuseChange(from, direct.value);
  const gone = goneIn(from, system);
  const sources = refused.length === 0 && heirs.size === 0 ? [] : sourcesLeft(from, direct.value, heirs);
  const named = compiledFor(withNewNames(direct.value, sources), target);
  if (!named.ok) return impossible(refused);
  const fixed = refused.length === 0 ? [] : movedIn(from, named.value);
  const moved = [...new Set([...fixed, ...weakened])];
  if (moved.length > 0 || sources.length > 0 || (gone.length > 0 && refused.length === 0)) {
    const steps = inSteps(from, named.value, { wanted: moved, gone, sources, start, left: old.held ?? {} });
    const reasons = refused.flatMap(({ message, notes }) => [message, ...notes]);
    if (steps.ok) return { ...steps, value: { ...own, ...steps.value, reasons } };
    // Nobody would read the new queues after a way back that drains nothing.
    if (refused.length > 0 || back !== undefined) return steps;
  }
  if (refused.length > 0) return impossible(refused);
  const apart = apartFrom(from, direct.value);
  const nothing = { ...own, apart, reasons: [], moved: [], gone: [], sources: [], dropped: [], held: [], drained: [] };
  return proved(underNewNames(start, system), direct.value, (last) => ({ ...nothing, steps: [last] }));
}

/** The consumers to drain, and the sources to leave. Those that are wanted get new queues, and those that are gone none. */
interface Draining extends Pick<Migration, "gone" | "sources"> {
  readonly wanted: readonly string[];
  readonly start: Deployed;
  /** The queues that earlier consumers left behind. */
  readonly left: HeldQueues;
}

function inSteps(
  from: Deployed,
  to: Deployed,
  { wanted, gone, sources: leaving, start, left }: Draining,
): Checked<Omit<Migration, "upgradeTo" | "settings" | "reasons" | "avoided" | "apart">> {
  const { system, target } = to;
  const keys = new Map([
    ...wanted.map((consumer) => [consumer, freeKey(system.consumers, consumer)] as const),
    ...gone.map(({ consumer }) => [consumer, consumer] as const),
  ]);
  const sources = takenMeanwhile(from, system, leaving, keys);
  const endless = neverEmpty(from, sources, keys);
  if (endless.length > 0) return impossible(endless);
  const final = compiledFor(withNewQueues(from, to, wanted, left), target);
  if (!final.ok) return impossible(final.diagnostics);
  const passed = stillDrained(from, final.value, keys);
  if (passed.length > 0) return impossible(passed);
  const held = heldBack(from, final.value);
  const draining = sideBySide(...withOwnDeadQueues(from, final.value), keys);
  const named = withOldStrategies(from, withoutHeld(sharingDead(from.target, target), held, keys), keys);
  const meanwhile = withOldSettings(from, to, named, keys);
  const beside = compiledFor(
    withOldSources(from, draining, sources, () => true),
    meanwhile,
  );
  if (!beside.ok) return impossible(atDeclared(beside.diagnostics, keys));
  const unbound = givenUp(from, final.value, { draining, meanwhile, sources, keys });
  if (unbound?.ok === false) return impossible(atDeclared(unbound.diagnostics, keys));
  // A source that no consumer takes from has nobody to wait for.
  const isAtOnce = unbound === null && keys.size === 0;
  const sides = [...(isAtOnce ? [] : [beside.value]), ...(unbound === null ? [] : [unbound.value]), final.value];
  let before = underNewNames(start, beside.value.system);
  const steps: MigrationStep[] = [];
  for (const side of sides) {
    const step = proved(before, side, (value) => value);
    if (!step.ok) return { ok: false, diagnostics: atDeclared(step.diagnostics, keys) };
    steps.push({ ...step.value, warnings: [...atDeclared(step.value.warnings, keys)] });
    before = side;
  }
  return accepted({
    moved: wanted.map((consumer) => movedOf(from, beside.value, consumer, keys.get(consumer) ?? "")),
    gone,
    sources,
    dropped: [...takenIn(from)].filter((name) => !takenIn(beside.value).has(name)),
    held,
    drained: drainedBefore(from, final.value),
    steps,
  });
}

/**
 * The step that ends the bindings of sources that publishers have left. A deployment deletes a binding only if its source
 * is still declared. Null if all that take from these sources go in the last step.
 */
function givenUp(
  from: Deployed,
  final: Deployed,
  {
    draining,
    meanwhile,
    sources,
    keys,
  }: Pick<Draining, "sources"> & {
    readonly draining: System;
    readonly meanwhile: Target;
    readonly keys: ReadonlyMap<string, string>;
  },
): Checked<Deployed> | null {
  const drained = new Set(keys.values());
  const isOrdered = sources.some((each) => each.isOrdered);
  const areAllDrained = sources.every((each) =>
    Object.keys(each.taken).every((key) => each.isOrdered && drained.has(key)),
  );
  if (areAllDrained) return null;
  const base = isOrdered ? draining : final.system;
  const old = withOldSources(from, base, sources, (consumer) => isOrdered && drained.has(consumer));
  return compiledFor(old, isOrdered ? meanwhile : final.target);
}

function compiledFor(declared: System, target: Target): Checked<Deployed> {
  const system = checkSystem(declared);
  if (!system.ok) return system;
  const compiled = brokerOf(target).compile(plan(system.value), target);
  if (!compiled.ok) return compiled;
  return { ...compiled, value: deployedOf({ system: system.value, target, compiled: compiled.value }) };
}

function proved<Value>(from: Deployed, to: Deployed, result: (step: MigrationStep) => Value): Checked<Value> {
  const refused = refuseChange(from, to);
  const sound = refused.length > 0 ? null : prove(to.compiled, to.target);
  if (sound?.ok === false) return impossible(sound.diagnostics);
  const change = refused.length > 0 ? null : proveChange(from, to);
  const problems = change?.problems ?? refused;
  if (change === null || problems.length > 0) return impossible(problems);
  const { verdicts, warnings, weakened } = change;
  const left = leftBehind(from, to);
  return accepted(result({ system: to.system, target: to.target, verdicts, warnings, weakened, left }));
}

/** The consumers whose queues cannot change in place. Those that stay share the shared parts. */
function movedIn(from: Deployed, to: Deployed): readonly string[] {
  const fixed = new Set(fixedParts(from, to).map(({ consumer }) => consumer));
  const staying = Object.keys(to.system.consumers).filter((consumer) => Object.hasOwn(from.system.consumers, consumer));
  return staying.filter((consumer) => fixed.has(null) || fixed.has(consumer));
}

function movedOf(from: Deployed, beside: Deployed, consumer: string, before: string) {
  const old = from.contracts.get(consumer);
  return {
    consumer,
    /** The name under which the old code goes on until its queue is empty. */
    before,
    queue: old?.workQueue ?? null,
    newQueue: beside.contracts.get(consumer)?.workQueue ?? null,
    /** The longest delay of a retry by the old code. A message may come back to the empty queue until then. */
    longestDelayMs: longestDelayOf(old === undefined ? [] : [old]),
  };
}
