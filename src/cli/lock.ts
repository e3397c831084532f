import { type Target, brokerOf } from "../brokers/index.ts";
import { type Checked, accepted } from "../diagnostics/diagnostic.ts";
import { findDeployed } from "../migrate/find-deployed.ts";
import { againstBroker, driftDiagnostics, judgeDrift, otherDiagnostics } from "../migrate/judge-drift.ts";
import { askedOf, factsOf, goingIn, lockWith, refuseSecond, updatedIn, withoutEnvironment } from "../migrate/lock.ts";
import { nameOfSystem } from "../plan/plan.ts";
import { fileOf, sourcesIn } from "./audit-source.ts";
import { changeFrom } from "./check-change.ts";
import { type ForTarget, compileFile, loadPlan } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { loadTarget } from "./load-target.ts";
import { loadLock, lockPlaceOf, readLocked, writeLock } from "./lock-file.ts";
import { print } from "./output.ts";
import { ownVersion } from "./read-packaged.ts";
import { refuse, say, usage } from "./refuse.ts";
import { settled } from "./settled.ts";
import { UnwritableError } from "./write-file.ts";

interface LockOptions extends ForTarget, Readonly<Record<string, unknown>> {
  readonly replace?: true;
  readonly live?: true;
}

/**
 * Writes down that a declaration is deployed in an environment. Refuses a change that no deployment makes in one step,
 * because the lock would then say something else than the broker. If the options name a broker or an export of one, it
 * has to be as the declaration says, and it decides about the strategies.
 */
export async function lockCommand(file: string, options: LockOptions): Promise<number> {
  const place = lockPlaceOf(options.target);
  if (place === null)
    return usage(
      "a lock belongs to an environment of a project file: write redeliver.config.yaml, and name --env",
      options,
    );
  const target = await targetOf(file, options);
  if (typeof target === "number") return target;
  const { environment } = place;
  const old = loadLock(place.file);
  const other = old?.ok === true && options.replace !== true ? updatedIn(old.value, environment, ownVersion()) : null;
  const own = other === null ? target : accepted(other.changed.target);
  const proved = await compileFile(file, options, own === undefined ? undefined : () => own);
  if (!proved.ok) return proved.exitCode;
  const isSame =
    other !== null && (factsOf(other.changed.compiled) === factsOf(proved.compiled) || other.asked === askedOf(proved));
  const updated = isSame ? other : null;
  if (options.replace !== true && updated === null) {
    const going = old?.ok === true ? goingIn(old.value, environment) : null;
    const second = going?.ok === true && going.value !== null ? refuseSecond(going.value, null) : null;
    if (second?.ok === false) return refuse(second.diagnostics, options, { file: place.file }, exitCodes.refused);
    const before = readLocked(place, nameOfSystem(proved.system));
    if (before?.ok === false) return refuse(before.diagnostics, options, { file: place.file }, exitCodes.refused);
    const deployed = before?.value ?? null;
    const change = deployed === null ? null : changeFrom(deployed, proved, { file, locate: proved.locate }, place);
    if (change?.ok === false) return refuse(change.diagnostics, options, change.about, change.exitCode);
    if (change !== null && change.warnings.length > 0 && options.json !== true)
      say(change.warnings, { file, locate: proved.locate });
  }
  const known = old?.ok === true ? old.value : null;
  // --replace is for queues that were made anew, so none are left from before.
  const kept = known === null || options.replace !== true ? known : withoutEnvironment(known, environment);
  const lock = lockWith(kept, environment, updated?.changed ?? proved, ownVersion(), updated?.asked);
  if (!lock.ok) return refuse(lock.diagnostics, options, { file: place.file }, exitCodes.refused);
  try {
    await writeLock(place.file, lock.value);
  } catch (cause) {
    if (cause instanceof UnwritableError) return usage(`${place.file} cannot be written: ${cause.message}`, options);
    throw cause;
  }
  const consumers = lock.value.environments[environment]?.consumers;
  return print(
    options.json === true
      ? { lock: place.file, environment, consumers }
      : `${place.file} says that ${file} is deployed in ${environment}. Commit it.\n`,
  );
}

/** The target to lock. Undefined for that of the environment, and an exit code if the broker has something else. */
async function targetOf(file: string, options: LockOptions): Promise<Checked<Target> | undefined | number> {
  const sources = sourcesIn(options);
  const [source] = sources;
  if (sources.length > 1 || (options.live === true && source === undefined))
    return usage("name one broker with --url, or with managementUrl in the project file and --live", options);
  const target = loadTarget(options.target, options.strategy);
  const planned = await loadPlan(file, options.target);
  // Queues that were made anew may have any strategy.
  if (!target.ok || !planned.ok || source === undefined) return options.replace === true ? target : undefined;
  const { broker } = target.value;
  if (source.kind === "stack" || source.audited.name !== broker)
    return usage(`the target is one of ${brokerOf({ broker }).title}, but the input is of another broker`, options);
  const found = await settled(
    source,
    target.value,
    (deployment) => findDeployed(deployment, planned.value.system, target.value),
    ({ drift }) => drift,
  );
  if (!found.ok) return refuse(found.diagnostics, options, { file: fileOf(source) }, exitCodes.usage);
  const { drift, result } = found.value;
  // The declaration may leave resources behind. All others have to be as it says.
  const judged = judgeDrift(drift).filter(({ change, effect }) => change !== "extra" || effect !== "harmless");
  const words = { ...againstBroker, help: "deploy the declaration first, or lock the declaration that is deployed" };
  const different = [...driftDiagnostics(judged, words), ...otherDiagnostics({ ...drift, keptLetters: [] })];
  return different.length > 0 ? refuse(different, options, {}, exitCodes.refused) : { ...target, value: result.target };
}
