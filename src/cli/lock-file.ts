import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import type { Target } from "../brokers/index.ts";
import type { System } from "../declare/system.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import type { Holding } from "../migrate/held-queues.ts";
import { type Kept, keepStrategies } from "../migrate/keep-strategies.ts";
import { type Lock, lockedIn, readLock } from "../migrate/lock.ts";
import { nameOfSystem } from "../plan/plan.ts";
import { environmentIn, loadTarget } from "./load-target.ts";
import { readText } from "./read-text.ts";
import { writeWhole } from "./write-file.ts";

/** The lock file beside a project file, and an environment. */
export type LockPlace = NonNullable<ReturnType<typeof lockPlaceOf>>;

/** @returns null for a target that is no environment of a project file */
export function lockPlaceOf(target: string) {
  const found = environmentIn(target);
  return found === null ? null : { file: lockFileOf(found.file), environment: found.name };
}

export function lockFileOf(project: string): string {
  return join(dirname(project), "redeliver.lock.json");
}

/** Null if there is no such file. */
export function loadLock(file: string): Checked<Lock> | null {
  if (!existsSync(file)) return null;
  const text = readText(file);
  return text.ok ? readLock(text.value) : text;
}

/** The system that is deployed in an environment. Null if no lock has it. */
export function readLocked({ file, environment }: LockPlace, system: string): Checked<Holding | null> | null {
  const lock = loadLock(file);
  return lock?.ok === true ? lockedIn(lock.value, environment, system) : lock;
}

/** A target, and the consumers whose strategy the lock keeps. */
export type KeptTarget = Checked<Target> & Partial<Pick<Kept, "kept">>;

/**
 * The target of a command. `auto` keeps the strategies that the lock of the environment has.
 *
 * @param target the target by itself, for a command that had to load it before
 */
export function targetFor(
  planned: Checked<{ readonly system: System }>,
  text: string,
  strategy: string,
  target: Checked<Target> = loadTarget(text, strategy),
): KeptTarget {
  const place = lockPlaceOf(text);
  const lock = place === null ? null : loadLock(place.file);
  if (!target.ok || !planned.ok || place === null || lock === null) return target;
  const { system } = planned.value;
  // An environment may lend its target to another declaration.
  if (lock.ok && lock.value.system !== nameOfSystem(system)) return target;
  const deployed = lock.ok ? lockedIn(lock.value, place.environment, nameOfSystem(system)) : lock;
  if (deployed.ok)
    return deployed.value === null ? target : { ...target, ...keepStrategies(deployed.value, system, target.value) };
  const region = { line: 1, column: 1 };
  const diagnostics = deployed.diagnostics.map((each) => ({ ...each, place: { file: place.file, region } }));
  return { ok: false, diagnostics };
}

/** @throws UnwritableError */
export async function writeLock(file: string, lock: Lock): Promise<void> {
  await writeWhole(file, `${JSON.stringify(lock, null, 2)}\n`);
}
