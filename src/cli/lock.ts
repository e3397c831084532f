import { goingIn, lockWith, refuseSecond } from "../migrate/lock.ts";
import { changeFrom } from "./check-change.ts";
import { type ForTarget, compileFile } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { loadLock, lockPlaceOf, readLocked, writeLock } from "./lock-file.ts";
import { print } from "./output.ts";
import { ownVersion } from "./read-packaged.ts";
import { refuse, say, usage } from "./refuse.ts";
import { UnwritableError } from "./write-file.ts";

/**
 * Writes down that a declaration is deployed in an environment. Refuses a change that no deployment makes in one step,
 * because the lock would then say something else than the broker.
 */
export async function lockCommand(file: string, options: ForTarget & { readonly replace?: true }): Promise<number> {
  const place = lockPlaceOf(options.target);
  if (place === null)
    return usage(
      "a lock belongs to an environment of a project file: write redeliver.config.yaml, and name --env",
      options,
    );
  const proved = await compileFile(file, options);
  if (!proved.ok) return proved.exitCode;
  const { environment } = place;
  if (options.replace !== true) {
    const old = loadLock(place.file);
    const going = old?.ok === true ? goingIn(old.value, environment) : null;
    const second = going?.ok === true && going.value !== null ? refuseSecond(going.value, null) : null;
    if (second?.ok === false) return refuse(second.diagnostics, options, { file: place.file }, exitCodes.refused);
    const before = readLocked(place, proved.system.name);
    if (before?.ok === false) return refuse(before.diagnostics, options, { file: place.file }, exitCodes.refused);
    const deployed = before?.value ?? null;
    const change = deployed === null ? null : changeFrom(deployed, proved, { file, locate: proved.locate }, place);
    if (change?.ok === false) return refuse(change.diagnostics, options, change.about, change.exitCode);
    if (change !== null && change.warnings.length > 0 && options.json !== true)
      say(change.warnings, { file, locate: proved.locate });
  }
  const old = loadLock(place.file);
  const lock = lockWith(old?.ok === true ? old.value : null, environment, proved, ownVersion());
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
