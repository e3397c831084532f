import { count } from "../contract/in-words.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { type Changed, type Deployed, deployedOf, underNewNames } from "../migrate/deployed.ts";
import { changedCounts } from "../compile/budget.ts";
import { leftBehind } from "../migrate/left-behind.ts";
import { type Holding, leftQueuesTaken } from "../migrate/held-queues.ts";
import { factsOf } from "../migrate/lock.ts";
import { goneIn } from "../migrate/old-queues.ts";
import { planMigration } from "../migrate/plan-migration.ts";
import { proveChange } from "../migrate/prove-change.ts";
import { refuseChange } from "../migrate/refuse-change.ts";
import { nameOfSystem } from "../plan/plan.ts";
import type { ShownChange } from "../report/verdicts.ts";
import { type ForTarget, type ProvedFile, exitCodeOf, loadPlan, proveLoaded } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { compiledIn, deployedInCompiled } from "./deployed-in-compiled.ts";
import { deployedInState, isState } from "./deployed-in-state.ts";
import { readText } from "./read-text.ts";
import { environmentIn, inNames, loadTarget } from "./load-target.ts";
import { type LockPlace, lockPlaceOf, readLocked, targetFor } from "./lock-file.ts";
import { refuseMissing } from "./missing-lock.ts";
import type { About } from "./refuse.ts";

/** The deployed declaration that a new one is to replace, and its target if that differs. */
export interface FromOptions extends ForTarget {
  readonly from?: string;
  readonly fromTarget?: string;
}

/** A proved change. */
export interface CheckedChange extends ShownChange {
  readonly ok: true;
  readonly warnings: readonly Diagnostic[];
}

/** The reasons to refuse a change, with the file that they are about. */
export interface RefusedChange {
  readonly ok: false;
  readonly diagnostics: readonly Diagnostic[];
  readonly about: About;
  readonly exitCode: number;
}

/**
 * Proves the change from the deployed declaration to a new one, or refuses it as a deployment would. An option names
 * the deployed one, or the lock of the environment has it.
 *
 * @param file the file of the new declaration
 * @returns null if nothing says what is deployed
 */
export async function checkChange(
  file: string,
  to: Omit<ProvedFile, "warnings">,
  options: FromOptions,
): Promise<CheckedChange | RefusedChange | null> {
  const place = options.from === undefined ? lockPlaceOf(options.target) : { file: options.from };
  const before = await deployedBefore(nameOfSystem(to.system), options);
  if (place === null) return null;
  if (before === null) {
    const missing = "environment" in place ? refuseMissing(place) : [];
    const about = { file: place.file };
    return missing.length === 0 ? null : { ok: false, diagnostics: missing, about, exitCode: exitCodes.refused };
  }
  return "ok" in before ? before : changeFrom(before, to, { file, locate: to.locate }, place);
}

/** The deployed system that an option names, or that the lock of the environment has. Null if there is neither. */
export async function deployedBefore(system: string, options: FromOptions): Promise<Holding | RefusedChange | null> {
  return options.from === undefined ? locked(system, options) : declared(options.from, system, options);
}

/**
 * Proves the change from a deployed system.
 *
 * @param from the file with that system, and the environment if it is a lock
 */
export function changeFrom(
  old: Holding,
  to: Changed & Pick<ProvedFile, "own">,
  about: About,
  { file: from, environment }: Partial<LockPlace> & Pick<LockPlace, "file">,
): CheckedChange | RefusedChange {
  const [before, after] = [underNewNames(old, to.system), deployedOf(to)];
  const refuse = (diagnostics: readonly Diagnostic[]): RefusedChange => {
    const placed = diagnostics.map((each) => inNames(each, to.own));
    return { ok: false, diagnostics: placed, about, exitCode: exitCodes.refused };
  };
  const refused = [...refuseChange(before, after), ...leftQueuesTaken(before, after, old.held ?? {})];
  if (refused.length > 0)
    return refuse(environment === undefined ? refused : refused.map(withSteps(old, to, environment)));
  const { verdicts, problems, warnings: weaker } = proveChange(before, after);
  if (problems.length > 0) return refuse(problems);
  const warnings =
    environment === undefined || weaker.length === 0 ? weaker : weaker.map(withSteps(old, to, environment));
  const isDeployed = factsOf(before.compiled) === factsOf(to.compiled);
  const counts = changedCounts(before.compiled, after.compiled);
  const gone = goneIn(before, to.system);
  return { ok: true, from, isDeployed, verdicts, warnings, counts, left: leftBehind(before, after), gone };
}

/** With a lock `migrate` can make the change, if there are steps to it, or to a change that keeps every promise. */
function withSteps(old: Holding, { system, target }: Changed, environment: string): (each: Diagnostic) => Diagnostic {
  const planned = planMigration(old, system, target);
  if (!planned.ok) return (each) => each;
  const helped = new Set(["RD302", "RD303", ...(planned.value.avoided.length > 0 ? ["RD304", "RD308"] : [])]);
  const { steps: all, moved, sources } = planned.value;
  const what = [
    ...(moved.length === 0 ? [] : [`new queues for ${firstOf(moved.map(({ consumer }) => consumer))}`]),
    ...(sources.length === 0
      ? []
      : [`other sources for the publishers of ${firstOf(sources.map(({ name }) => name))}`]),
  ].join(", and ");
  const steps = `run redeliver migrate --env ${environment}, which has ${count(all.length, "proved step")}${what === "" ? "" : `, with ${what}`}`;
  return (each) => (helped.has(each.code) ? { ...each, help: `${steps}; or ${each.help}` } : each);
}

function firstOf(names: readonly string[]): string {
  return `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;
}

async function declared(from: string, system: string, options: FromOptions): Promise<Deployed | RefusedChange> {
  const text = /\.json$/i.test(from) ? readText(from) : null;
  const compiled = text?.ok === true ? compiledIn(text.value) : null;
  if (text?.ok === true && (compiled !== null || isState(text.value))) {
    const found =
      compiled === null
        ? deployedInState(text.value, system, options.fromTarget)
        : deployedInCompiled(compiled, system, options.fromTarget);
    return found.ok ? found.value : { ...found, about: { file: from }, exitCode: exitCodes.usage };
  }
  // `--strategy` is that of the new target. A deployed target of its own has its own strategy, too.
  const { fromTarget, target, strategy } = options;
  // A target that is no environment has no names, so those of the environment of the new side count.
  const isNamed = fromTarget !== undefined && environmentIn(fromTarget) !== null;
  const planned = await loadPlan(from, isNamed ? fromTarget : target);
  const deployed = fromTarget === undefined ? targetFor(planned, target, strategy) : loadTarget(fromTarget, "auto");
  const proved = proveLoaded(planned, deployed);
  if (proved.ok) return deployedOf(proved.value);
  const { diagnostics } = proved;
  return { ok: false, diagnostics, about: { file: from, locate: planned.locate }, exitCode: exitCodeOf(diagnostics) };
}

function locked(system: string, { target }: FromOptions): Holding | RefusedChange | null {
  const place = lockPlaceOf(target);
  const read = place === null ? null : readLocked(place, system);
  if (read === null || place === null) return null;
  if (read.ok) return read.value;
  return { ok: false, diagnostics: read.diagnostics, about: { file: place.file }, exitCode: exitCodes.refused };
}
